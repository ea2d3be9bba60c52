"""Which of several are the best, as far as can be told."""

from __future__ import annotations

import math
from collections.abc import Mapping

from setsweep.sweeps.statistics.methods.corrections import corrected
from setsweep.sweeps.statistics.methods.intervals import paired_difference
from setsweep.sweeps.statistics.methods.student import is_below_level


def indistinct_from_best(values: Mapping[str, Mapping[int, float]], *, confidence: float) -> frozenset[str]:
    """The name with the highest mean, and all that cannot be told from it.

    Told from it is what the paired t test finds different, at 1 - confidence by Holm over all others. Where there is no
    test (two seeds, equal differences) nothing is told; so of few seeds many are as good as the best.

    Args:
        values: per name, seed to value (more is better); names without values are never among the best.
        confidence: 1 less the error of all tests together.
    """
    means = {name: math.fsum(own.values()) / len(own) for name, own in values.items() if own}
    if not means:
        return frozenset()
    best = max(means, key=lambda name: means[name])
    others = [name for name in means if name != best]
    tests = [paired_difference(values[best], values[name], confidence=confidence) for name in others]
    p_values = corrected([test.p for test in tests], "holm")
    told = {name for name, p in zip(others, p_values, strict=True) if is_below_level(p, confidence)}
    return frozenset(means) - told
