"""``setsweep plan``: what a study would run, how long and with how much memory, from a short measurement."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import torch
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from setsweep.data.trust import allow as allow_packages
from setsweep.sweeps import DEFAULT_STORAGE, read_study
from setsweep.sweeps.commands.as_json import AsJson
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.planned import Plan, plain_plan
from setsweep.sweeps.commands.study_names import AnyStudy
from setsweep.sweeps.commands.told import Quiet
from setsweep.sweeps.execution.capacity import room
from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.planning.planner import Planner
from setsweep.sweeps.planning.race import rungs
from setsweep.sweeps.planning.seed_groups import first_candidate
from setsweep.sweeps.records.study_folder import stored_planner, study_folder
from setsweep.sweeps.reports.foresight import smallest_difference
from setsweep.sweeps.study.design.layout import design
from setsweep.sweeps.study.parts import Resources
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.json_text import json_text
from setsweep.sweeps.sweep.cost import Cost, can_be_measured, measure, read_rates, save_rates
from setsweep.sweeps.sweep.preflight import check_functions, check_runs
from setsweep.sweeps.sweep.progress import duration
from setsweep.trainables.config.run_config import RunConfig

UNKNOWN = (
    "How long a run takes, and with how much memory, can't be known here: it is to have a GPU, and there is none. "
    "'setsweep plan STUDY --save-rate FILE' measures it where one is, and --rate FILE takes it from there. "
    "Nothing was recorded."
)


def command(
    study: AnyStudy,
    *,
    overrides: Annotated[list[str] | None, Parameter(name="--set")] = None,
    storage: str = DEFAULT_STORAGE,
    slots: int | None = None,
    rate: Path | None = None,
    save_rate: Path | None = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    allow: Annotated[list[str] | None, Parameter(name="--allow", negative=())] = None,
) -> int:
    """Print what a study would run, how long and with how much memory; nothing is recorded.

    Args:
        study: a study file, or the name of a bundled study.
        overrides: change a field of the study for this time, e.g. --set training.epochs=3; may be given several times.
        storage: folder or URL where its results are kept, if there are any.
        slots: runs at once; default: what this machine has room for.
        rate: a file with what runs take, as it was measured on another machine, instead of a measurement.
        save_rate: write what is measured into such a file.
        as_json: print it as JSON.
        quiet: don't say what is being measured.
        allow: a package whose functions the study may name besides those of its own folder; may be given several times.
    """
    allow_packages(allow or ())
    read = read_study(study, overrides or ())
    told = Console(stderr=True, quiet=quiet)
    plan = make_plan(read, told, storage=storage, slots=slots, rate=rate, save_rate=save_rate)
    if as_json:
        print(json_text(plain_plan(plan)), end="")
    else:
        print_plan(plan)
        if save_rate is not None and plan.known:
            print(f"What runs take is in {save_rate}, for 'setsweep plan --rate'.")
    return DONE


def make_plan(
    study: Study,
    told: Console,
    *,
    storage: str,
    slots: int | None = None,
    rate: Path | None = None,
    save_rate: Path | None = None,
    measured: bool = True,
) -> Plan:
    """What a study would run, from its storage and a measurement.

    Args:
        told: where it is said what is being measured.
        study, storage, slots, rate, save_rate: see `command`.
        measured: whether what runs take is measured, where no file says it.
    """
    planner = stored_planner(study, study_folder(storage, study.name))
    study = planner.study
    if slots is not None and slots < 1:
        raise ValueError(f"--slots must be >= 1, got {slots}.")
    known = rate is not None or (measured and can_be_measured(study))
    slots = slots or (slots_here(study.resources) if known and rate is None else None)
    if known and rate is None:
        check_runs(study, planner, DatasetCache(), here=False)  # what a run would refuse
    else:
        check_functions(study)
    configs = {arm: _example(study, arm) for arm in study.arms}
    first = {arm: seeds[0] for arm, seeds in configs.items()}
    left = {arm: planner.counts(arm).left for arm in study.arms}
    costs: dict[str, Cost] = {}
    if rate is not None:
        costs = read_rates(rate, study, first)
    elif known:
        costs = {arm: _measured(study, arm, configs[arm], told) for arm in study.arms if left[arm] > 0}
    if save_rate is not None and known:
        save_rates(save_rate, study, costs, first)
    return Plan(study=study, planner=planner, costs=costs, slots=slots, known=known)


def print_plan(plan: Plan, *, unknown: str = UNKNOWN) -> None:
    """Print it as a table and some sentences; `unknown` where what runs take is not known."""
    study, planner, costs = plan.study, plan.planner, plan.costs
    console = Console()
    for note in study.notes:
        console.print(f"Note: {note}", highlight=False, markup=False)
    console.print(_table(study, planner, costs))
    console.print(_time(plan) if plan.known else unknown)
    if seen := smallest_difference(study, planner.runs()):
        console.print(seen)
    if study.keep.scores != "none" and all(cost.scores is not None for cost in costs.values()):
        kept = sum((cost.scores or 0) * _kept(planner, arm, planner.counts(arm).total) for arm, cost in costs.items())
        console.print(f"Scores kept: at most {kept / 2**30:.2g} GiB, of {study.keep.limit:g} GiB that they may take.")


def _measured(study: Study, arm: str, configs: Sequence[RunConfig], told: Console) -> Cost:
    """Measure an arm, and say so: it takes seconds."""
    with told.status(f"Measuring a run of {arm} ..."):
        if not told.is_terminal:
            told.print(f"Measuring a run of {arm} ...", highlight=False)
        return measure(study, configs)


def _table(study: Study, planner: Planner, costs: Mapping[str, Cost]) -> Table:
    runs_planned = f"{planner.total}" if planner.most == planner.total else f"{planner.total} to {planner.most}"
    table = Table(box=None, title=f"{study.name}: {runs_planned} runs", title_justify="left")
    varied = ["sensitivity"] if study.sensitivity else []
    some_failed = planner.counts().ended > planner.counts().done
    states = ["runs", "done", *(["failed"] if some_failed else [])]
    for heading in ("arm", "search", "confirm", *varied, *states, "a run takes", "memory"):
        table.add_column(heading, justify="left" if heading == "arm" else "right", overflow="fold")
    for arm in study.arms:
        counts = planner.counts(arm)
        numbers = [str(each) for each in (counts.total, counts.done, counts.ended - counts.done)][: len(states)]
        table.add_row(arm, *_counts(study, arm), *numbers, *_cost(costs.get(arm)))
    return table


def _cost(cost: Cost | None) -> tuple[str, str]:
    if cost is None:
        return "-", "-"
    return _precise(cost.seconds), "-" if math.isnan(cost.mebibytes) else f"{cost.mebibytes:.0f} MiB"


def _time(plan: Plan) -> str:
    study, slots, seconds, wall = plan.study, plan.slots, plan.seconds, plan.wall_seconds
    if slots is None or wall is None:
        return f"About {duration(seconds)} of training, divided by the slots that there are. Nothing was recorded."
    return (
        f"About {duration(seconds)} of training: {_between(*wall)} on {slots} slots of "
        f"{study.resources.cpus:g} CPU and {_amount(study.resources.gpus)} GPU, and some seconds to start. "
        "Nothing was recorded."
    )


def _between(least: float, most: float) -> str:
    """``70 to 85 min``; one of them where they read the same."""
    first, last = duration(least), duration(most)
    if first == last:
        return first
    same = first.split()[1:] == last.split()[1:]
    return f"{first.split()[0] if same else first} to {last}"


def _kept(planner: Planner, arm: str, runs: int) -> int:
    """Of so many runs of an arm, how many keep their scores."""
    keep = planner.study.keep.scores
    if keep == "all":
        return runs
    searched = sum(run.stage == "search" for run, _ in planner.runs() if run.arm == arm)
    return 0 if keep == "none" else runs - searched


def _example(study: Study, arm: str) -> list[RunConfig]:
    """The seeds of the first configuration that an arm would train from nothing."""
    return [run.config for run in first_candidate([run for run, _ in Planner(study).runs() if run.arm == arm])]


def slots_here(resources: Resources) -> int:
    """How many runs this machine has room for; of a share of a GPU that is yet to be measured, one to a GPU."""
    gpus = 1 if resources.gpus == "auto" and torch.cuda.is_available() else resources.gpus
    cpus, devices = os.cpu_count() or 1, torch.cuda.device_count()
    fit = room(cpus, devices, cpus=resources.cpus, gpus=0 if gpus == "auto" else gpus)
    if fit:
        return fit
    there, wanted = f"{cpus} CPUs and {devices} GPUs", f"{resources.cpus:g} CPUs and {_amount(gpus)} GPUs a run"
    rule = f"must fit on this machine, with {there}, got {wanted}"
    raise ValueError(f"resources {rule}. For a cluster, --slots says how many it has room for.")


def _counts(study: Study, arm: str) -> tuple[str, ...]:
    points = len(study.points())
    times = f"{points} x " if points > 1 else ""
    search, chosen = "-", ""
    if study.search is not None and study.arms[arm].searched:
        own = study.search
        seeds = own.seeds_of(study.arms[arm])
        stages = rungs(own.trials_of(study.arms[arm]), len(seeds), own.race, own.least)
        search = f"{times}{_several(stages[0].trials, 'trial')} x {_several(stages[0].seeds, 'seed')}"
        search += "".join(f", {rung.trials} x {rung.seeds}" for rung in stages[1:])
        confirmed = (own.front if own.further else 1) + study.confirm.default
        chosen = f"{confirmed} x " if confirmed > 1 else ""
    most = "" if study.confirm.half_width is None else f" to {study.confirm.most}"
    confirm = f"{times}{chosen}{len(study.confirm_seeds)}{most} seeds"
    return (search, confirm, *_varied(study, arm, times))


def _varied(study: Study, arm: str, times: str) -> tuple[str, ...]:
    """What a sensitivity study takes; nothing where there is none."""
    if study.sensitivity is None:
        return ()
    points = len(design(study.sensitivity, study.arms[arm]))
    return (f"{times}{points} values x {len(study.sensitivity.seeds)} seeds" if points else "-",)


def _several(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _amount(gpus: float | str) -> str:
    return "a measured share of a" if isinstance(gpus, str) else f"{gpus:g}"


def _precise(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 10 else duration(seconds)
