"""What slots and driver say to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setsweep.sweeps.execution.executor import Job, Outcome
from setsweep.sweeps.execution.news import Moment


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
