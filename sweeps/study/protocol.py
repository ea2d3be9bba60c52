"""Reads how a study chooses and how it reports: `search`, `confirm`, `compare` and `resources`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from setsweep.sweeps.study.findings import Findings, Section
from setsweep.sweeps.study.metrics import metrics_rule, objective_rule
from setsweep.sweeps.study.study import Arm, Compare, Resources, Search
from setsweep.sweeps.study.training import TrainingBlock
from setsweep.trainables.evaluation.metric import accuracy, plain_accuracies
from setsweep.trainables.settings.problems import unknown
from setsweep.trainables.settings.rules import Rule, flag, is_number, listed, one_of, real, whole

FIRST_SEARCH_SEED = 1000
MAX_SEEDS = 1000
MAX_COMBINATIONS = 10_000


def read_search(findings: Findings, ks: Sequence[int]) -> Search | None:
    """The search, or None where the study has none."""
    if findings.source.values.get("search") is None:
        return None
    known = ("trials", "sampler", "objective", "seeds", "batch", "asynchronous")
    section = Section(findings, ("search",), known)
    if section.read("asynchronous", flag(), default=False):
        findings.add(
            ("search", "asynchronous"), "must be false, as asynchronous search is not supported yet, got True."
        )
    return Search(
        trials=section.read("trials", whole(1), 20),
        sampler=section.read("sampler", one_of("tpe", "random", "qmc", "grid", "gp"), "tpe"),
        objective=section.read("objective", objective_rule(ks), accuracy("avg", ks[0], split="val").name),
        seeds=section.read("seeds", _seeds(FIRST_SEARCH_SEED), _first_seeds(FIRST_SEARCH_SEED, 2)),
        batch=section.read("batch", whole(1), 4),
    )


def check_search(findings: Findings, search: Search | None, arms: Mapping[str, Arm], training: TrainingBlock) -> None:
    """A search and something to search come together; the grid sampler needs finite spaces."""
    anything = training.searched or any(arm.searched for arm in arms.values())
    if search is not None and not anything and not findings.within("arms", "training"):
        findings.add(("search",), "has no candidates: no value of the arms or of training is searched.")
    for arm in arms.values():
        for path, space in arm.searched.items():
            place = searched_place(findings, arm, path)
            if search is None:
                findings.add(place, f"must be a fixed value in a study without a search, got {space.kind}.")
            elif search.sampler == "grid" and space.size is None:
                findings.add(place, f"must be int, log_int or choice for the grid sampler, got {space.kind}.")
        sizes = [space.size or 1 for space in arm.searched.values()]
        if search is not None and search.sampler == "grid" and math.prod(sizes) > MAX_COMBINATIONS:
            rule = f"must have at most {MAX_COMBINATIONS} combinations for the grid sampler, got {math.prod(sizes)}."
            findings.add(("arms", arm.name), rule)


def searched_place(findings: Findings, arm: Arm, path: str) -> tuple[str, ...]:
    """Where a value that an arm searches was given: in the arm, or in the study's training."""
    own = ("arms", arm.name, path.removeprefix("loss."))
    return own if findings.source.has(own) else tuple(path.split("."))


def read_confirm_seeds(findings: Findings, search: Search | None) -> tuple[int, ...]:
    """The seeds of the confirmation, none of which the search has used."""
    seeds: tuple[int, ...] = Section(findings, ("confirm",), ["seeds"]).read("seeds", _seeds(0), _first_seeds(0, 5))
    used = [seed for seed in seeds if search is not None and seed in search.seeds]
    if used:
        findings.add(("confirm", "seeds"), f"must be fresh, none of those of the search, got {used} in both.")
    return seeds


def read_compare(findings: Findings, arms: Sequence[str] | None, ks: Sequence[int]) -> Compare:
    """The comparisons; `arms` are the names of all arms, those with errors included; None: not known."""
    section = Section(findings, ("compare",), ["baseline", "confidence", "correction", "metrics"])
    usual = None if arms is None else "cross_entropy" if "cross_entropy" in arms else arms[0]
    return Compare(
        baseline=usual if arms is None else section.read("baseline", _arm_rule(arms), usual),
        confidence=section.read("confidence", real(above=0, below=1), 0.95),
        correction=section.read("correction", one_of("holm", "bonferroni", "none"), "holm"),
        metrics=section.read(
            "metrics", metrics_rule(ks), tuple(metric.on("test").name for metric in plain_accuracies(ks))
        ),
    )


def check_device(findings: Findings, training: TrainingBlock, resources: Resources) -> None:
    """A run that wants a GPU must be given one, since without it sees none."""
    if training.fixed.get("device") == "cuda" and not resources.gpus:
        findings.add(("resources", "gpus"), "must be > 0 or auto where training.device is cuda, got 0.")


def read_resources(findings: Findings) -> Resources:
    """What one run occupies."""
    section = Section(findings, ("resources",), ["cpus", "gpus", "seeds_per_worker"])
    return Resources(
        cpus=section.read("cpus", real(above=0), 1.0),
        gpus=section.read("gpus", or_auto(share_or_whole()), 0.0),
        seeds_per_worker=section.read("seeds_per_worker", or_auto(whole(1)), 1),
    )


def share_or_whole() -> Rule:
    """A share of one, or a whole number of them."""
    number = real(low=0)

    def check(value: object) -> object:
        checked: float = number.check(value)
        if checked > 1 and not checked.is_integer():
            raise ValueError(f"must be <= 1 or whole, got {value}.")
        return checked

    return Rule(number.type, check)


def or_auto(rule: Rule) -> Rule:
    """The rule, or the word auto."""

    def check(value: object) -> object:
        if value == "auto":
            return value
        try:
            return rule.check(value)
        except ValueError as error:
            raise ValueError(str(error).replace(", got ", " or auto, got ", 1)) from None

    return Rule(rule.type, check)


def _arm_rule(arms: Sequence[str]) -> Rule:
    def check(value: object) -> object:
        if value not in arms:
            raise ValueError(unknown("arm", value, arms))
        return value

    return Rule("other", check)


def _seeds(first: int) -> Rule:
    """A number of seeds, counted from `first`, or the seeds themselves."""
    number, listing = whole(1, high=MAX_SEEDS), listed(whole(0, high=2**63 - 1))

    def check(value: object) -> tuple[int, ...]:
        if is_number(value):
            return _first_seeds(first, number.check(value))
        if not isinstance(value, list) or not value:
            raise ValueError(f"must be a number of seeds or a list of them, got {value!r}.")
        seeds: tuple[int, ...] = listing.check(value)
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"must be distinct seeds, got {value!r}.")
        return seeds

    return Rule("other", check)


def _first_seeds(first: int, count: int) -> tuple[int, ...]:
    return tuple(range(first, first + count))
