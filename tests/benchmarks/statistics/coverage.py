"""How often intervals cover what they are of, and tests claim what is not so, on simulated runs.

    python tests/benchmarks/statistics/coverage.py [--repetitions 4000] [--only looks]

One Markdown table. At 4,000 repetitions a measured 95 % is sure to 0.7 points (two standard errors), and 5 % as well.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from setsweep.sweeps.planning.precision import seeds_for
from setsweep.sweeps.statistics.methods.anytime import anytime
from setsweep.sweeps.statistics.methods.best import certificate
from setsweep.sweeps.statistics.methods.corrections import corrected, gatekept
from setsweep.sweeps.statistics.methods.effects import better_on_a_seed, hedges_g
from setsweep.sweeps.statistics.methods.equivalence import equivalence
from setsweep.sweeps.statistics.methods.images import crossed_bootstrap, crossed_interval
from setsweep.sweeps.statistics.methods.intervals import PairedDifference, mean_interval, paired_difference
from setsweep.sweeps.statistics.methods.looks import planned_looks
from setsweep.sweeps.statistics.methods.pooled import pooled_intervals
from setsweep.sweeps.statistics.methods.several_sets import combined
from setsweep.sweeps.statistics.methods.simultaneous import SimultaneousInterval, simultaneous_intervals
from setsweep.sweeps.statistics.methods.student import mean_and_std, t_tail
from setsweep.sweeps.statistics.methods.two_stage import two_stage_interval

Array = NDArray[np.float64]
Row = tuple[str, str, float]  # what, setting, percent
ALPHA = 0.05
COVER = 0.95
PLANS = {"race of 12": (12, 9), "race of 30": (30, 9), "12 x 2": (12, 2), "12 x 5": (12, 5)}  # trials, most seeds


def equal_differences(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """Family-wise error of Holm over 27 tests of counts of 360 images, both sides with a sd of 3.2 images."""
    for n in (2, 3, 4, 5):
        counts = np.rint(draw.normal(330, 4.5 / math.sqrt(2), (2, times, 27, n)))
        differences = (counts[0] - counts[1]) / 360
        mean, std = differences.mean(-1), differences.std(-1, ddof=1)
        rules = {"equal is certain": 0.0, "rounding variance added": math.sqrt(1 / 6) / 360}
        for name, extra in rules.items():
            with np.errstate(divide="ignore", invalid="ignore"):
                t = np.abs(mean) / np.hypot(std, extra) * math.sqrt(n)
            smallest = [t_tail(float(each), n - 1) * 2 for each in np.nan_to_num(t, posinf=np.inf).max(1)]
            yield f"family-wise error, {name}", f"n = {n}", _percent(p < ALPHA / 27 for p in smallest)
        found = [
            corrected([paired_difference(_seeds(d), _seeds(0 * d), confidence=COVER).p for d in each], "holm")
            for each in differences
        ]
        yield (
            "family-wise error, undefined (ours)",
            f"n = {n}",
            _percent(any(p is not None and p < ALPHA for p in each) for each in found),
        )


def pooled(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """Intervals by the pooled variance, of accuracies of 60 to 97 % with a sd of 0.2 logits."""
    for configurations, n in ((4, 2), (12, 2), (60, 2), (12, 3), (9, 5)):
        for rho in (0.0, 0.5, 0.7):
            hits = []
            for _ in range(max(100, times // 4)):
                centres = draw.uniform(0.4, 3.5, (configurations, 1))
                shared, own = draw.normal(size=(1, n)), draw.normal(size=(configurations, n))
                logits = centres + 0.2 * (math.sqrt(rho) * shared + math.sqrt(1 - rho) * own)
                found = pooled_intervals([_seeds(1 / (1 + np.exp(-row))) for row in logits], confidence=COVER)
                truth = _mean_accuracy(centres[:, 0], 0.2)
                hits += [_in(t, i.ci_low, i.ci_high) for t, i in zip(truth, found.intervals, strict=True)]
            yield "pooled interval covers", f"{configurations} x {n} seeds, correlation {rho}", _percent(hits)


def gates(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """Errors of gatekeeping, 9 places and 2 secondary metrics without any difference, 10 seeds."""
    for effects in ([0.0] * 9, [1.0] * 9, [0.6] * 9, [3.0] * 9, [3.0] * 4 + [0.0] * 5, [1.0] * 5 + [0.0] * 4):
        for rho in (0.5, 0.9):
            errors: list[tuple[bool, bool]] = []
            for _ in range(times // 4):
                first = draw.normal(size=(9, 10))
                second = math.sqrt(rho) * first[:, None] + math.sqrt(1 - rho) * draw.normal(size=(9, 2, 10))
                p_first = _p(first + np.array(effects)[:, None])
                p_second = _p(second)
                verdicts = gatekept(
                    dict(enumerate(p_first.tolist())),
                    {(i, str(j)): float(p_second[i, j]) for i in range(9) for j in range(2)},
                    "holm",
                    confidence=COVER,
                )
                false = any(v.significant for i, v in verdicts.primary.items() if effects[i] == 0)
                errors.append((false, any(v.significant for v in verdicts.secondary.values())))
            setting = f"effects {effects[0]} ({sum(e > 0 for e in effects)} of 9), correlation {rho}"
            yield "gatekeeping, error of the primary", setting, _percent(a for a, _ in errors)
            yield "gatekeeping, error of the secondary", setting, _percent(b for _, b in errors)
            yield "gatekeeping, error of either", setting, _percent(a or b for a, b in errors)


def power(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """How often one difference of 1.5 sd of runs is found at 10 seeds, the others being none (Holm)."""
    for family, what in ((9, "power, the primary in a family of its own"), (27, "power, all 27 in one family")):
        found = []
        for values in math.sqrt(2) * draw.normal(size=(times, family, 10)):
            values[0] += 1.5
            p = corrected(_p(values).tolist(), "holm")[0]
            found.append(p is not None and p < ALPHA)
        yield what, "1.5 sd, n = 10", _percent(found)


def simultaneous(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """All of nine intervals cover, 5 seeds, baseline shared."""
    patterns = {"none differs": [0.0] * 9, "all large": [9.0] * 9, "4 up, 4 down": [9.0] * 4 + [-9.0] * 4 + [0.0]}
    for name, truth in {**patterns, "half middling": [1.5] * 5 + [0.0] * 4}.items():
        for correction in ("holm", "bonferroni"):
            hits = []
            for _ in range(times // 2):
                values = draw.normal(size=(9, 5)) + np.array(truth)[:, None]
                baseline = _seeds(draw.normal(size=5))
                found = [paired_difference(_seeds(each), baseline, confidence=COVER) for each in values]
                joint = simultaneous_intervals(found, correction, confidence=COVER)  # type: ignore[arg-type]
                hits.append(all(_covers(t, each) for t, each in zip(truth, joint, strict=True)))
            yield f"all 9 simultaneous intervals cover, {correction}", name, _percent(hits)


def effects(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """Effect size, chance to be better, and equivalence."""
    laws: dict[str, Callable[[int], Array]] = {
        "normal": lambda n: draw.normal(size=n),
        "Student t3": lambda n: draw.standard_t(3, n) / math.sqrt(3),
        "skewed": lambda n: 1 - draw.exponential(size=n),
    }
    better_of = {
        "normal": 0.5 * math.erfc(-0.8 / math.sqrt(2)),
        "Student t3": 1 - t_tail(0.8 * math.sqrt(3), 3),
        "skewed": 1 - math.exp(-1.8),
    }
    for n in (3, 5, 10):
        for law, values in laws.items():
            samples = [(values(n) + 0.8).tolist() for _ in range(times)]
            sizes = [hedges_g(each, confidence=COVER) for each in samples]
            better = [better_on_a_seed(each, confidence=COVER) for each in samples]
            setting = f"n = {n}, {law}, 0.8 sd"
            yield "effect size covers", setting, _percent(_in(0.8, e.ci_low, e.ci_high) for e in sizes)
            yield (
                "P(better on a seed) covers",
                setting,
                _percent(_in(better_of[law], e.ci_low, e.ci_high) for e in better),
            )
            shifted = [equivalence((values(n) + 2).tolist(), margin=2, confidence=COVER) for _ in range(times)]
            yield "equivalence claimed at the margin", f"n = {n}, {law}", _percent(e.equivalent for e in shifted)


def looks(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """False positives of looking again, and what Stein's rule covers."""
    for at in ((5, 10, 15, 20), (3, 6, 9, 12), (5, 10)):
        level = planned_looks(at, confidence=COVER).level
        smallest = [min(float(_p(values[:n])) for n in at) for values in draw.normal(size=(times, at[-1]))]
        yield "false positive, naive looks", f"at {at}", _percent(p < ALPHA for p in smallest)
        yield "false positive, planned looks", f"at {at}", _percent(p < level for p in smallest)
    for first, last in ((3, 30), (5, 30), (5, 100)):
        found = [anytime(v, confidence=COVER, first=first).p for v in draw.normal(size=(times, last)).tolist()]
        setting = f"after every seed, {first} to {last}"
        yield "false positive, anytime", setting, _percent(p is not None and p < ALPHA for p in found)
    for pilot in (3, 5, 10):
        for width in (0.5, 0.9):
            two, naive = [], []
            for values in draw.normal(size=(times, 400)).tolist():
                n = min(400, seeds_for(values[:pilot], width, COVER))
                interval = two_stage_interval(values[:n], pilot=pilot, confidence=COVER)
                two.append(_in(0, interval.ci_low, interval.ci_high))
                naive.append(_stopped_when_narrow(values, pilot, width))
            yield "two-stage interval covers", f"pilot {pilot}, half-width {width} sd", _percent(two)
            yield "stopping when it looks narrow covers", f"from {pilot}, half-width {width} sd", _percent(naive)


def best(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """The certificate of a choice, after a race in thirds or full replication."""
    landscapes: dict[str, Callable[[int], Array]] = {
        "flat": np.zeros,
        "bell": lambda c: draw.normal(0, 1.0, c),
        "steep": lambda c: -np.linspace(0, 6, c),
        "two best": lambda c: np.array([0.0, 0.0] + [-1.0] * (c - 2)),
        "one best": lambda c: np.array([0.0] + [-1.0] * (c - 1)),
    }
    for name, landscape in landscapes.items():
        for noise in ("equal", "unequal", "Student t3"):
            for plan in PLANS:
                hits = [_certified(draw, landscape, noise, plan) for _ in range(times // 2)]
                yield "choice is within the bound", f"{plan}, {name}, {noise} noise", _percent(hits)


def sets(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """The mean over data sets, and the signed-rank interval from six on."""
    for k in (2, 3, 5, 6, 10):
        for n in (3, 10):
            for between in (0.0, 0.5, 1.5):
                for unequal in (0.0, 0.7):
                    hits = []
                    for _ in range(times // 2):
                        scale = np.exp(unequal * draw.normal(size=(k, 1)))
                        values = between * draw.normal(size=(k, 1)) + scale * draw.normal(size=(k, n))
                        interval = combined([_difference(row) for row in values], confidence=COVER)
                        hits.append(_in(0, interval.ci_low, interval.ci_high))
                    spread = "unequal" if unequal else "equal"
                    yield "mean over sets covers", f"{k} sets, {n} seeds, tau {between}, {spread} noise", _percent(hits)


def images(draw: np.random.Generator, times: int) -> Iterator[Row]:
    """Intervals that shall hold for another test set too."""
    for n in (3, 5, 10):
        for count in (360, 2000):
            for of_seed, of_image in ((0.0, 0.0), (0.05, 0.3), (0.2, 0.3), (0.05, 1.0)):
                truth = float(np.diff(_mean_accuracy(np.array([1.5, 1.6]), *_scales(of_seed, of_image)))[0])
                hits: dict[str, list[bool]] = {}
                for _ in range(max(100, times // 8)):
                    ours, theirs = _packed_hits(draw, n, count, of_seed, of_image)
                    seeds_only = paired_difference(
                        _accuracies(ours, count), _accuracies(theirs, count), confidence=COVER
                    )
                    crossed = crossed_interval(ours, theirs, images=count, confidence=COVER)
                    drawn = crossed_bootstrap(ours, theirs, images=count, confidence=COVER, generator=draw, draws=300)
                    for name, each in (("t over seeds", seeds_only), ("crossed", crossed), ("bootstrap", drawn)):
                        hits.setdefault(name, []).append(_in(truth, each.ci_low, each.ci_high))
                setting = f"{n} seeds, {count} images, sd of seeds {of_seed}, of images {of_image}"
                for name, each_hits in hits.items():
                    yield f"{name} interval covers new images", setting, _percent(each_hits)


PARTS: Mapping[str, Callable[[np.random.Generator, int], Iterator[Row]]] = {
    "equal": equal_differences,
    "pooled": pooled,
    "gates": gates,
    "power": power,
    "simultaneous": simultaneous,
    "effects": effects,
    "looks": looks,
    "best": best,
    "sets": sets,
    "images": images,
}


def _certified(draw: np.random.Generator, landscape: Callable[[int], Array], noise: str, plan: str) -> bool:
    count, last = PLANS[plan]
    truth = landscape(count)
    scale = np.exp(0.5 * draw.normal(size=(count, 1))) if noise == "unequal" else 1.0
    errors = (
        draw.standard_t(3, (count, last)) / math.sqrt(3) if noise == "Student t3" else draw.normal(size=(count, last))
    )
    values = truth[:, None] + 1.5 * draw.normal(size=last) + scale * errors
    runs = np.full(count, last)
    alive = np.arange(count)
    if plan.startswith("race"):
        runs[:] = 1
        for seeds, survivors in ((1, max(4, -(-count // 3))), (3, max(3, -(-count // 9)))):
            alive = alive[np.argsort(-values[alive, :seeds].mean(1), kind="stable")[:survivors]]
            runs[alive] = 3 * seeds
    choice = int(alive[np.argmax(values[alive, :last].mean(1))])
    candidates = [_seeds(row[:n]) for row, n in zip(values, runs, strict=True)]
    others = [each for index, each in enumerate(candidates) if index != choice]
    replicated = not plan.startswith("race")
    bound = certificate(candidates[choice], others, confidence=COVER, replicated=replicated).bound
    return bound is not None and float(truth.max() - truth[choice]) <= bound


def _stopped_when_narrow(values: Sequence[float], first: int, width: float) -> bool:
    n = first
    while True:
        interval = mean_interval(values[:n], confidence=COVER)
        assert interval.ci_low is not None
        assert interval.ci_high is not None
        if (interval.ci_high - interval.ci_low) / 2 <= width:
            return interval.ci_low <= 0 <= interval.ci_high
        n += 1


def _packed_hits(
    draw: np.random.Generator, n: int, count: int, of_seed: float, of_image: float
) -> tuple[dict[int, NDArray[np.uint8]], dict[int, NDArray[np.uint8]]]:
    easy = draw.normal(1.5, 2, count)
    gain = np.stack([0.1 + of_image * draw.normal(size=count), np.zeros(count)])
    logits = easy + gain[:, None] + of_seed * draw.normal(size=(2, n, 1)) + 0.7 * draw.normal(size=(2, n, count))
    packed = np.packbits(draw.random((2, n, count)) < 1 / (1 + np.exp(-logits)), axis=-1)
    return dict(enumerate(packed[0])), dict(enumerate(packed[1]))


def _scales(of_seed: float, of_image: float) -> tuple[Array]:
    variance = 4 + 0.49 + of_seed**2
    return (np.sqrt([variance, variance + of_image**2]),)


def _mean_accuracy(logits: Array, scale: float | Array) -> Array:
    """The mean of 1 / (1 + exp(-z)) for normal z."""
    at, weights = np.polynomial.hermite_e.hermegauss(60)
    values = 1 / (1 + np.exp(-(logits[:, None] + np.reshape(scale, (-1, 1)) * at)))
    return (values * weights).sum(1) / weights.sum()


def _accuracies(hits: Mapping[int, NDArray[np.uint8]], count: int) -> dict[int, float]:
    return {seed: float(np.unpackbits(packed, count=count).mean()) for seed, packed in hits.items()}


def _p(values: Array) -> Array:
    t = np.abs(values.mean(-1)) / values.std(-1, ddof=1) * math.sqrt(values.shape[-1])
    return 2 * np.vectorize(t_tail)(t, values.shape[-1] - 1)


def _difference(values: Array) -> PairedDifference:
    mean, std = mean_and_std(values.tolist())
    return PairedDifference(difference=mean, ci_low=None, ci_high=None, p=None, n=len(values), std=std)


def _seeds(values: Array) -> dict[int, float]:
    return dict(enumerate(values.tolist()))


def _covers(truth: float, found: SimultaneousInterval) -> bool:
    low, high = found.ci_low, found.ci_high
    if low is None and high is None:
        return False
    return (
        (low is None or low <= truth) and (high is None or truth <= high) and not (found.excludes_zero and truth == 0)
    )


def _in(truth: float, low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low <= truth <= high


def _percent(hits: Iterator[bool] | Sequence[bool]) -> float:
    found = list(hits)
    return 100 * sum(found) / len(found)


def main(repetitions: int, only: str | None) -> None:
    """Print the table."""
    print("| what | setting | % |\n| --- | --- | --- |")
    for name, part in PARTS.items():
        if only in (None, name):
            for what, setting, percent in part(np.random.default_rng(0), repetitions):
                print(f"| {what} | {setting} | {percent:.1f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=4000)
    parser.add_argument("--only", choices=PARTS)
    arguments = parser.parse_args()
    main(arguments.repetitions, arguments.only)
