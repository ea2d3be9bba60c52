"""Reads how a study chooses, what it keeps and what that costs: `search`, `confirm`, `keep` and `resources`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from setsweep.losses.values import as_number
from setsweep.sweeps.study.parts import Confirm, Keep, Resources
from setsweep.sweeps.study.rules import objectives_rule
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import FIRST_SEARCH_SEED, MAX_SEEDS, Arm, Pruner, Sampler, Search
from setsweep.sweeps.study.text.findings import Findings, Section
from setsweep.sweeps.study.training import TrainingBlock
from setsweep.trainables.config.complete import SEED
from setsweep.trainables.evaluation.metric import accuracy
from setsweep.trainables.settings.rules import Rule, flag, listed, one_of, real, share_or_whole, whole
from setsweep.trainables.settings.setting import Setting

MAX_COMBINATIONS = 10_000


def search_settings(ks: Sequence[int]) -> dict[str, Setting]:
    """The fields of `search` in a study of these set sizes; with none, as the schema says it of any."""
    objective = accuracy("avg", ks[0], split="val").name if ks else None
    return {
        "trials": Setting(whole(1), 20, "configurations of each arm at each grid point, its default included"),
        "sampler": Setting(one_of(*get_args(Sampler)), "auto", "what suggests them; auto: gp for ranges, else tpe"),
        "objective": Setting(objectives_rule(ks), objective, "the validation metric to maximise, or a list of several"),
        "seeds": Setting(
            seeds_rule(FIRST_SEARCH_SEED), first_seeds(FIRST_SEARCH_SEED, 1), "that every trial is trained with"
        ),
        "batch": Setting(whole(1), 4, "asked for at once, from finished ones alone", unit="trials"),
        "front": Setting(whole(1), 4, "of several objectives: how many members of the front are confirmed"),
        "asynchronous": Setting(flag(), False, "suggest from whatever has finished"),
    }


RACE = {
    "seeds": Setting(whole(2, high=MAX_SEEDS), 9, "of the last of a race in thirds", unit="seeds"),
    "least": Setting(whole(3), 4, "that go on to the second rung at least", unit="trials"),
}


PRUNER = {
    "name": Setting(
        one_of("median", "successive_halving"), None, "the rule by which trials that are behind are stopped"
    ),
    "startup": Setting(whole(1), 8, "trained to their end before any is stopped", unit="trials"),
    "warmup": Setting(whole(0), 1, "that every trial is given", unit="epochs"),
    "factor": Setting(whole(2), 3, "of successive_halving: one trial in so many goes on to the next rung"),
}


def read_search(findings: Findings, ks: Sequence[int]) -> Search | None:
    """The search, or None where the study has none."""
    if findings.source.values.get("search") is None:
        return None
    settings = search_settings(ks)
    section = Section(findings, ("search",), [*settings, "race", "pruner"])
    read = section.read_all(settings)
    named = read.pop("objective")  # the default is no list
    objective, *further = (named,) if isinstance(named, str) else named or ("",)  # none where k is broken
    race = {"seeds": None, "least": RACE["least"].default}
    if section.values.get("race") is not None:
        race = Section(findings, ("search", "race"), RACE).read_all(RACE)
    search = Search(
        **read,
        objective=objective,
        further=tuple(further),
        race=race["seeds"],
        least=race["least"] or 4,
        pruner=_read_pruner(findings, section.values.get("pruner")),
    )
    _check_race(findings, search)
    _check_pruner(findings, search)
    _check_sampler(findings, search)
    return search


def _check_race(findings: Findings, search: Search) -> None:
    """A race needs one mean to rank by, and seeds beyond those that every trial has."""
    if search.race is None:
        return
    if search.further:
        findings.add(("search", "race"), "must be left out with several objectives, of which none says who is ahead.")
    elif search.race <= len(search.seeds):
        rule = f"must be > the {len(search.seeds)} that every trial has (search.seeds), got {search.race}."
        findings.add(("search", "race", "seeds"), rule)


def _read_pruner(findings: Findings, given: Any) -> Pruner | None:
    """The rule by its name alone, or with its settings."""
    if given is None:
        return None
    field = ("search", "pruner")
    if not isinstance(given, Mapping):
        name = findings.checked(field, PRUNER["name"].check, given)
        return None if name is None else Pruner(name=name)
    read = Section(findings, field, PRUNER).read_all(PRUNER)
    if read["name"] is None:
        if not findings.within("search.pruner"):
            findings.add((*field, "name"), f"must be given, {PRUNER['name'].rule.words}, got nothing.")
        return None
    return Pruner(**{name: value for name, value in read.items() if value is not None})


def _check_pruner(findings: Findings, search: Search) -> None:
    """What is stopped follows from finished batches and from one objective; a race stops trials by seeds instead."""
    if search.pruner is None:
        return
    rules = {
        "must be left out with several objectives, of which none says who is behind.": bool(search.further),
        "must be left out with a race, which gives up trials by their seeds.": search.race is not None,
        "must be left out with search.asynchronous, which has no batches to follow from.": search.asynchronous,
    }
    for rule, broken in rules.items():
        if broken:
            findings.add(("search", "pruner"), rule)


def _check_sampler(findings: Findings, search: Search) -> None:
    """Not every sampler serves several objectives, or goes without batches."""
    of_several = ("auto", "gp", "tpe", "qmc", "random", "grid", "nsga2")
    field = ("search", "sampler")
    if search.further and search.sampler not in of_several:
        findings.add(field, f"must be one of {', '.join(of_several)} with several objectives, got {search.sampler!r}.")
    if search.sampler == "nsga2" and not search.further:
        findings.add(field, "must be another where there is one objective, got 'nsga2'.")
    if search.sampler in ("cmaes", "nsga2") and search.asynchronous:
        rule = f"must be false with {search.sampler}, whose batches are its generations, got True."
        findings.add(("search", "asynchronous"), rule)
    if search.sampler in ("cmaes", "nsga2") and search.batch < 4:
        rule = f"must be >= 4 with {search.sampler}, whose batches are its generations, got {search.batch}."
        findings.add(("search", "batch"), rule)


def check_search(
    findings: Findings, search: Search | None, arms: Mapping[str, Arm], searched: Mapping[str, Space]
) -> None:
    """A search and something to search come together; some samplers need spaces of their kind.

    Args:
        findings: receives what is wrong.
        search: the study's.
        arms: the study's, those without an error.
        searched: what data, model and training search, by path.
    """
    anything = searched or any(arm.searched for arm in arms.values())
    if search is not None and not anything and not findings.within("arms", "training", "data", "model"):
        findings.add(("search",), "has no candidates: no value of the arms, of data, model or training is searched.")
    for arm in arms.values():
        for path, space in arm.searched.items():
            field = searched_field(findings, arm, path)
            if search is None:
                findings.add(field, f"must be a fixed value in a study without a search, got {space.kind}.")
            elif search.sampler == "grid" and space.size is None:
                findings.add(field, f"must be int, log_int or choice for the grid sampler, got {space.kind}.")
            elif search.sampler == "cmaes" and space.kind == "choice":
                findings.add(field, "must be a range for the cmaes sampler, which knows no choices, got choice.")
        if search is not None and search.sampler == "grid":
            _check_grid_sampler(findings, search, arm)


def _check_grid_sampler(findings: Findings, search: Search, arm: Arm) -> None:
    """A grid is tried whole, and is of bearable size."""
    size = math.prod(space.size or 1 for space in arm.searched.values())
    if size > MAX_COMBINATIONS:
        rule = f"must have at most {MAX_COMBINATIONS} combinations for the grid sampler, got {size}."
        findings.add(("arms", arm.name), rule)
    elif findings.source.has(("search", "trials")) and search.trials < size and arm.combinations:
        whole_grid = f"the {size} combinations of {arm.name}, as a grid is tried whole"
        rule = f"must be left out or >= {whole_grid}, got {search.trials}."
        findings.add(("search", "trials"), rule)


def searched_field(findings: Findings, arm: Arm, path: str) -> tuple[str, ...]:
    """Where a value that an arm searches was given: in the arm, or in the study's data, model or training."""
    own = ("arms", arm.name, path.removeprefix("loss."))
    return own if findings.source.has(own) else tuple(path.split("."))


def confirm_settings() -> dict[str, Setting]:
    """The fields of `confirm`."""
    number = whole(2, high=MAX_SEEDS)
    return {
        "seeds": Setting(seeds_rule(0), first_seeds(0, 5), "fresh ones, which the reported numbers come from"),
        "default": Setting(
            flag(), True, "whether the default of an arm that is searched is confirmed beside the choice"
        ),
        "half_width": Setting(
            real(above=0, below=50, besides=(None,)), None, "of the intervals, instead of a number of seeds", "points"
        ),
        "pilot": Setting(number, 5, "from which the number for a half-width follows", "seeds"),
        "max": Setting(number, 30, "that a half-width may cost", "seeds"),
    }


def read_confirm(findings: Findings, search: Search | None, arms: Mapping[str, Arm]) -> tuple[tuple[int, ...], Confirm]:
    """The seeds of the confirmation (to a precision: of its pilot), none of which the search uses; and the rest."""
    settings = confirm_settings()
    section = Section(findings, ("confirm",), settings)
    read = section.read_all(settings)
    given = {name for name in settings if findings.source.has(("confirm", name))}
    seeds: tuple[int, ...] = read["seeds"]
    if section.values.get("half_width") is None:
        for name in sorted(given & {"pilot", "max"}):
            findings.add(("confirm", name), f"must be left out without confirm.half_width, got {read[name]}.")
    else:
        if "seeds" in given:
            findings.add(
                ("confirm", "seeds"),
                f"must be left out with confirm.half_width, which says how many, got {len(seeds)}.",
            )
        if read["max"] < read["pilot"]:
            findings.add(("confirm", "max"), f"must be >= confirm.pilot = {read['pilot']}, got {read['max']}.")
        seeds = first_seeds(0, read["pilot"])
    confirm = Confirm(
        default=read["default"] and any(arm.searched for arm in arms.values()),
        half_width=None if read["half_width"] is None else read["half_width"] / 100,
        most=read["max"],
    )
    _check_fresh(findings, search, arms, seeds if confirm.half_width is None else first_seeds(0, confirm.most))
    return seeds, confirm


def _check_fresh(findings: Findings, search: Search | None, arms: Mapping[str, Arm], seeds: tuple[int, ...]) -> None:
    if search is None:
        return
    used = {seed for arm in arms.values() for seed in search.seeds_of(arm)} | {*search.seeds}
    used |= {*search.first_seeds(search.race or 0)}
    twice = [seed for seed in seeds if seed in used]
    if twice:
        findings.add(("confirm", "seeds"), f"must be fresh, none of those of the search, got {twice} in both.")


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
    "max_slots": Setting(
        whole(1, besides=(None,)),
        None,
        "that train at once; an autoscaler is asked for so many; default: as many as fit",
        unit="runs",
    ),
    "share": Setting(
        real(low=0.01, high=100), 1.0, "of a cluster, beside other studies: twice as much as one with half of it"
    ),
    "priority": Setting(
        whole(-100, high=100), 0, "beside other studies: who has more gets all it wants before others get any"
    ),
}


KEEP: dict[str, Setting] = {
    "scores": Setting(
        one_of("confirm", "all", "none"), "none", "of which runs the scores of every kept epoch are, to be rescored"
    ),
    "limit": Setting(real(above=0), 10.0, "that scores may take; of runs that begin beyond it none are", unit="GiB"),
}


def read_keep(findings: Findings) -> Keep:
    """What is kept of runs beside their results."""
    return Keep(**Section(findings, ("keep",), KEEP).read_all(KEEP))


def read_resources(findings: Findings) -> Resources:
    """What one run occupies."""
    return Resources(**Section(findings, ("resources",), RESOURCES).read_all(RESOURCES))


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
