"""Drivers that share a cluster see each other: each says in Ray's own key-value store what it wants and what it has.

A driver writes its claim again every second, and each computes all parts from all claims, so that nobody has to decide
for others and nothing stays when the last one leaves. A claim that is not renewed is nobody's: that is told by one's
own clock alone, so no clock need be right.
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ray.experimental.internal_kv import internal_kv_get_gcs_client

from setsweep.sweeps.execution.capacity import Machine
from setsweep.sweeps.execution.slots.fair_parts import Want, fair_parts

NAMESPACE = b"setsweep-claims"
EXPIRE_SECONDS = 15.0  # without a renewal


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Of a study beside others on its cluster.

    Args:
        share: how much it gets: twice as much as one with half of it.
        priority: who has more of it gets all that is wanted before others get any.
    """

    share: float = 1.0
    priority: int = 0


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a driver says.

    Args:
        want: see `Want`.
        holds: how many slots it has a place for.
    """

    want: Want
    holds: int = 0


class Claims:
    """The claims on the connected cluster, this driver's among them.

    Args:
        clock: in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._store = internal_kv_get_gcs_client()  # type: ignore[no-untyped-call]  # Ray has no annotation here
        self._own = f"{time.time_ns()}-{uuid.uuid4().hex}".encode()  # who came first stands first
        self._renewed = 0
        self._seen: dict[bytes, tuple[bytes, float]] = {}  # what each said, and when that was new

    def renew(self, claim: Claim) -> tuple[list[Claim], int]:
        """Say what this driver wants; all claims in the order in which their drivers came, and which of them is its."""
        self._renewed += 1
        said = json.dumps({"renewed": self._renewed, "holds": claim.holds, "want": dataclasses.asdict(claim.want)})
        self._store.internal_kv_put(self._own, said.encode(), True, NAMESPACE)
        found = [(self._own, claim), *((name, _read(said)) for name, said in self._others().items())]
        found.sort(key=lambda pair: pair[0])
        return [claim for _, claim in found], [name for name, _ in found].index(self._own)

    def withdraw(self) -> None:
        """Want nothing any more."""
        self._store.internal_kv_del(self._own, False, NAMESPACE)

    def _others(self) -> dict[bytes, bytes]:
        """What the others say, but for those that have gone."""
        now, said = self._clock(), dict[bytes, bytes]()
        names = [name for name in self._store.internal_kv_keys(b"", NAMESPACE) if name != self._own]
        for name, text in self._store.internal_kv_multi_get(names, NAMESPACE).items():
            if self._seen.get(name, (b"", 0.0))[0] != text:
                self._seen[name] = (text, now)
            if now - self._seen[name][1] < EXPIRE_SECONDS:
                said[name] = text
            else:
                self._store.internal_kv_del(name, False, NAMESPACE)
        return said


def _read(said: bytes) -> Claim:
    plain = json.loads(said)
    return Claim(want=Want(**plain["want"]), holds=plain["holds"])


@lru_cache(maxsize=1)  # from one second to the next they are mostly the same
def _parts(wants: tuple[Want, ...], machines: tuple[Machine, ...]) -> list[int]:
    return fair_parts(wants, machines)


class FairPart:
    """How much of a shared cluster this driver takes.

    Attributes:
        held: how many slots it may hold.
        asked: how many it may have asked for: more, where the cluster may grow and nobody waits for what is there.
    """

    def __init__(self) -> None:
        self._claims = Claims()
        self.held = self.asked = math.inf

    def look(self, claim: Claim, machines: Sequence[Machine], *, growth: int) -> None:
        """Say what this driver wants, and see what it may have.

        Args:
            claim: of this driver.
            machines: of the cluster.
            growth: how many slots it would ask for that don't fit on the cluster as it is.
        """
        claims, own = self._claims.renew(claim)
        if len(claims) == 1:
            self.held = self.asked = math.inf
            return
        parts = _parts(tuple(claim.want for claim in claims), tuple(machines))
        waits = any(claim.holds < part for claim, part in zip(claims, parts, strict=True))
        self.held = parts[own]
        self.asked = self.held if waits else self.held + growth

    def leave(self) -> None:
        """It wants nothing any more."""
        self._claims.withdraw()
