"""Reads how a study chooses and how it reports: `search`, `confirm`, `compare` and `resources`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from setsweep.losses.values import as_number, unknown
from setsweep.sweeps.study.findings import Findings, Section
from setsweep.sweeps.study.rules import metrics_rule, objective_rule
from setsweep.sweeps.study.study import Arm, Compare, Resources, Search
from setsweep.sweeps.study.training import TrainingBlock
from setsweep.trainables.config.complete import SEED
from setsweep.trainables.evaluation.metric import accuracy, plain_accuracies
from setsweep.trainables.settings.rules import Rule, flag, listed, one_of, real, share_or_whole, whole
from setsweep.trainables.settings.setting import Setting

FIRST_SEARCH_SEED = 1000
MAX_SEEDS = 1000
MAX_COMBINATIONS = 10_000


def search_settings(ks: Sequence[int]) -> dict[str, Setting]:
    """The fields of `search` in a study of these set sizes; with none, as the schema says it of any."""
    objective = accuracy("avg", ks[0], split="val").name if ks else None
    return {
        "trials": Setting(whole(1), 20, "configurations of each arm at each grid point, its default included"),
        "sampler": Setting(one_of("tpe", "random", "qmc", "grid", "gp"), "tpe", "what suggests them"),
        "objective": Setting(objective_rule(ks), objective, "the validation metric to maximise"),
        "seeds": Setting(
            seeds_rule(FIRST_SEARCH_SEED), first_seeds(FIRST_SEARCH_SEED, 2), "that every trial is trained with"
        ),
        "batch": Setting(whole(1), 4, "asked for at once, from finished ones alone", unit="trials"),
    }


ASYNCHRONOUS = Setting(flag(), False, "suggest from whatever has finished")


def read_search(findings: Findings, ks: Sequence[int]) -> Search | None:
    """The search, or None where the study has none."""
    if findings.source.values.get("search") is None:
        return None
    settings = search_settings(ks)
    section = Section(findings, ("search",), [*settings, "asynchronous"])
    if section.read("asynchronous", ASYNCHRONOUS):
        findings.add(
            ("search", "asynchronous"), "must be false, as asynchronous search is not supported yet, got True."
        )
    return Search(**section.read_all(settings))


def check_search(findings: Findings, search: Search | None, arms: Mapping[str, Arm], training: TrainingBlock) -> None:
    """A search and something to search come together; the grid sampler needs finite spaces."""
    anything = training.searched or any(arm.searched for arm in arms.values())
    if search is not None and not anything and not findings.within("arms", "training"):
        findings.add(("search",), "has no candidates: no value of the arms or of training is searched.")
    for arm in arms.values():
        for path, space in arm.searched.items():
            field = searched_field(findings, arm, path)
            if search is None:
                findings.add(field, f"must be a fixed value in a study without a search, got {space.kind}.")
            elif search.sampler == "grid" and space.size is None:
                findings.add(field, f"must be int, log_int or choice for the grid sampler, got {space.kind}.")
        sizes = [space.size or 1 for space in arm.searched.values()]
        if search is not None and search.sampler == "grid" and math.prod(sizes) > MAX_COMBINATIONS:
            rule = f"must have at most {MAX_COMBINATIONS} combinations for the grid sampler, got {math.prod(sizes)}."
            findings.add(("arms", arm.name), rule)


def searched_field(findings: Findings, arm: Arm, path: str) -> tuple[str, ...]:
    """Where a value that an arm searches was given: in the arm, or in the study's training."""
    own = ("arms", arm.name, path.removeprefix("loss."))
    return own if findings.source.has(own) else tuple(path.split("."))


def confirm_settings() -> dict[str, Setting]:
    """The fields of `confirm`."""
    return {"seeds": Setting(seeds_rule(0), first_seeds(0, 5), "fresh ones, which the reported numbers come from")}


def read_confirm_seeds(findings: Findings, search: Search | None) -> tuple[int, ...]:
    """The seeds of the confirmation, none of which the search has used."""
    settings = confirm_settings()
    seeds: tuple[int, ...] = Section(findings, ("confirm",), settings).read_all(settings)["seeds"]
    used = [seed for seed in seeds if search is not None and seed in search.seeds]
    if used:
        findings.add(("confirm", "seeds"), f"must be fresh, none of those of the search, got {used} in both.")
    return seeds


def compare_settings(arms: Sequence[str] | None, ks: Sequence[int]) -> dict[str, Setting]:
    """The fields of `compare`; `arms` are the names of all arms, those with errors included; None: not known."""
    usual = None if arms is None else "cross_entropy" if "cross_entropy" in arms else arms[0]
    metrics = tuple(metric.on("test").name for metric in plain_accuracies(ks))
    return {
        "baseline": Setting(_arm_rule(arms), usual, "the arm that all others are compared with"),
        "confidence": Setting(real(above=0, below=1), 0.95, "of intervals; 1 - confidence is the level of tests"),
        "correction": Setting(one_of("holm", "bonferroni", "none"), "holm", "for the number of comparisons"),
        "metrics": Setting(metrics_rule(ks), metrics, "that arms are compared by"),
    }


def read_compare(findings: Findings, arms: Sequence[str] | None, ks: Sequence[int]) -> Compare:
    """The comparisons; for `arms` see `compare_settings`."""
    settings = compare_settings(arms, ks)
    return Compare(**Section(findings, ("compare",), settings).read_all(settings))


def check_device(
    findings: Findings,
    training: TrainingBlock,
    arms: Mapping[str, Arm],
    grid: Mapping[str, Sequence[Any]],
    resources: Resources,
) -> None:
    """A run that wants a GPU must be given one, since without it sees none."""
    wanted = [training.fixed.get("device"), *grid.get("training.device", ())]
    for arm in arms.values():
        searched = arm.searched.get("training.device")
        wanted += [arm.fixed.get("training.device"), *(searched.choices if searched else ())]
    if "cuda" in wanted and not resources.gpus:
        findings.add(("resources", "gpus"), "must be > 0 or auto where training.device is cuda, got 0.")


RESOURCES: dict[str, Setting] = {
    "cpus": Setting(real(above=0), 1.0, "of a run, each for one thread", unit="CPUs"),
    "gpus": Setting(share_or_whole(), 0.0, "of a run; auto: as many runs to a GPU as are measured best", unit="GPUs"),
    "seeds_per_worker": Setting(
        whole(1, besides=("auto",)), 1, "of a configuration that train together; auto: as many as is measured best"
    ),
}


def read_resources(findings: Findings) -> Resources:
    """What one run occupies."""
    return Resources(**Section(findings, ("resources",), RESOURCES).read_all(RESOURCES))


def _arm_rule(arms: Sequence[str] | None) -> Rule:
    def check(value: object) -> object:
        if arms is not None and value not in arms:
            raise ValueError(unknown("arm", value, arms))
        return value

    return Rule("other", check, "the name of an arm", {"type": "string"})


def seeds_rule(first: int) -> Rule:
    """A number of seeds, counted from `first`, or the seeds themselves."""
    number, listing = whole(1, high=MAX_SEEDS), listed(SEED)

    def check(value: object) -> tuple[int, ...]:
        if as_number(value) is not None:
            return first_seeds(first, number.check(value))
        if not isinstance(value, list | tuple) or not value:
            raise ValueError(f"must be a number of seeds or a list of them, got {value!r}.")
        seeds: tuple[int, ...] = listing.check(value)
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"must be distinct seeds, got {value!r}.")
        return seeds

    schema = {"anyOf": [number.schema, {**listing.schema, "minItems": 1, "uniqueItems": True}]}
    return Rule("other", check, "a number of seeds, or a list of them", schema)


def first_seeds(first: int, count: int) -> tuple[int, ...]:
    """So many seeds, counted from the first."""
    return tuple(range(first, first + count))
