"""Reads `compare`: which differences between arms are tested, by which metrics, and how often one looks."""

from __future__ import annotations

from collections.abc import Sequence

from setsweep.losses.values import unknown
from setsweep.sweeps.study.design.addresses import point_for
from setsweep.sweeps.study.parts import Compare
from setsweep.sweeps.study.rules import looks_rule, metrics_rule, primary_rule
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.findings import Findings, Section
from setsweep.trainables.conformal.sets import ConformalSets
from setsweep.trainables.evaluation.metric import plain_accuracies
from setsweep.trainables.settings.rules import Rule, flag, listed, one_of, real
from setsweep.trainables.settings.setting import Setting

_TESTED = 3  # seeds that a test takes


def compare_settings(
    arms: Sequence[str] | None,
    ks: Sequence[int],
    conformal: Sequence[ConformalSets] = (),
    own: Sequence[str] = (),
) -> dict[str, Setting]:
    """The fields of `compare`.

    Args:
        arms: the names of all arms, those with errors included; None: not known.
        ks: the set sizes; none: any.
        conformal: the conformal sets.
        own: the study's metrics of the user's.
    """
    usual = None if arms is None else "cross_entropy" if "cross_entropy" in arms else arms[0]
    metrics = tuple(metric.on("test").name for metric in plain_accuracies(ks))
    return {
        "baseline": Setting(_arm_rule(arms), usual, "the arm that all others are compared with"),
        "confidence": Setting(real(above=0, below=1), 0.95, "of intervals; 1 - confidence is the level of tests"),
        "correction": Setting(one_of("holm", "bonferroni", "none"), "holm", "for the number of comparisons"),
        "metrics": Setting(metrics_rule(ks, own, conformal=conformal), metrics, "that arms are compared by"),
        "show": Setting(
            metrics_rule(ks, own, none=True, conformal=conformal),
            (),
            "metrics that tables have beside those, without a test",
        ),
        "primary": Setting(
            primary_rule(ks), None, "tested first; default: the objective's on test, else average-k at the largest k"
        ),
        "pairs": Setting(_pairs_rule(arms), (), "further pairs of arms, the second being taken from the first"),
        "k": Setting(one_of("all", "own"), "all", "own: an arm whose loss has a k is compared at that one alone"),
        "equivalent": Setting(
            real(above=0, besides=(None,)), None, "the largest difference that counts as none", unit="points"
        ),
        "looks": Setting(
            looks_rule(), None, "numbers of seeds at which one tests, those of confirm among them; or anytime"
        ),
        "images": Setting(flag(), False, "whether the primary metric is compared over test images, too"),
    }


def read_compare(
    findings: Findings,
    arms: Sequence[str] | None,
    ks: Sequence[int],
    conformal: Sequence[ConformalSets],
    own: Sequence[str] = (),
) -> Compare:
    """The comparisons; see `compare_settings`."""
    settings = compare_settings(arms, ks, conformal, own)
    return Compare(**Section(findings, ("compare",), settings).read_all(settings))


def check_compare(findings: Findings, study: Study) -> None:
    """What is compared must be measured, and at a number of seeds that one has said to look at."""
    compare, seeds = study.compare, len(study.confirm_seeds)
    if isinstance(compare.looks, tuple) and seeds not in compare.looks:
        findings.add(
            ("compare", "looks"), f"must hold the number of seeds to confirm with, {seeds}, got {list(compare.looks)}."
        )
    if compare.looks is not None and study.confirm.half_width is not None:
        findings.add(("compare", "looks"), f"must be left out with confirm.half_width, got {compare.looks}.")
    if compare.looks is not None and compare.equivalent is not None:
        findings.add(("compare", "equivalent"), f"must be tested once, without compare.looks, got {compare.looks}.")
    if compare.equivalent is not None and seeds < _TESTED and study.confirm.half_width is None:
        rule = f"must rest on {_TESTED} seeds or more (confirm.seeds), as tests are over seeds, got {seeds}."
        findings.add(("compare", "equivalent"), rule)
    if compare.k == "own":
        for arm, own in _own_sizes(study):
            if own not in study.k:
                rule = f"must have the k of each arm among the set sizes {list(study.k)}, got {own} of {arm!r}."
                findings.add(("compare", "k"), rule)


def _own_sizes(study: Study) -> list[tuple[str, int]]:
    """Each arm whose loss has a set size, with that at every point of the grid."""
    sizes = (
        (arm.name, {**arm.fixed, **point_for(point, arm)}.get("loss.k"))
        for arm in study.arms.values()
        for point in study.points()
    )
    return [*dict.fromkeys((name, size) for name, size in sizes if size is not None)]


def _arm_rule(arms: Sequence[str] | None) -> Rule:
    def check(value: object) -> object:
        if arms is not None and value not in arms:
            raise ValueError(unknown("arm", value, arms))
        return value

    return Rule("other", check, "the name of an arm", {"type": "string"})


def _pairs_rule(arms: Sequence[str] | None) -> Rule:
    pair = listed(_arm_rule(arms), length=2)
    pairs = listed(pair)

    def check(value: object) -> tuple[tuple[str, str], ...]:
        found: tuple[tuple[str, str], ...] = pairs.check(value)
        for index, (one, other) in enumerate(found):
            if one == other:
                raise ValueError(f"must be pairs of two arms, got {one!r} twice.")
            if {one, other} in map(set, found[:index]):
                raise ValueError(f"must be distinct pairs, got {one!r} and {other!r} again.")
        return found

    return Rule("other", check, "a list of pairs of arms", {**pairs.schema, "uniqueItems": True})
