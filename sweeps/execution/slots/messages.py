"""What slots and driver say to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from setsweep.sweeps.execution.executor import Job, Outcome
from setsweep.sweeps.execution.news import Moment
from setsweep.trainables.places import AnyPath


@dataclass(frozen=True)
class Parcel:
    """What a slot is given.

    Args:
        job: to be done.
        data: handles to the shared parts of its data by what names them, None where there are none.
    """

    job: Job
    data: Any = None


@dataclass(frozen=True)
class Place:
    """Where a slot is.

    Args:
        node: of the cluster.
        memory: names the memory that its jobs fill; slots that name the same share it.
    """

    node: str = ""
    memory: str = ""


@dataclass(frozen=True)
class Hello:
    """What a slot says first; it is answered with what it needs."""


@dataclass(frozen=True)
class Needs:
    """What a slot needs before its first job.

    Args:
        files: the user's own modules, by their path in a folder from which they are imported.
        seen: a file that lies where results are kept, which its node must see; None: none is kept.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    seen: AnyPath | None = None


@dataclass(frozen=True)
class Unseen:
    """A slot does not see where results are kept.

    Args:
        host: it is on.
    """

    host: str


@dataclass(frozen=True)
class Take:
    """A slot brings what its last job gave and asks for the next; see `Mailbox.take`."""

    slot: int
    place: Place
    outcomes: list[Outcome]


@dataclass(frozen=True)
class Watch:
    """A slot asks to be told when it is to go; see `Mailbox.watch`."""

    slot: int


@dataclass(frozen=True)
class GiveBack:
    """A slot has stopped in the middle of its job, and goes."""

    slot: int


@dataclass(frozen=True)
class Tell:
    """What running runs have come to."""

    moments: list[Moment]
