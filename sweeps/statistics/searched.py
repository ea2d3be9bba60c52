"""What each search has come to: its rounds, what it has chosen, and how far that choice can be trusted."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from setsweep.sweeps.planning.candidate import Candidate
from setsweep.sweeps.planning.choice import best_first, search_values, stopped_trials, value_in_search
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.planning.race import Round, Rung, run_race, rungs, runs_of
from setsweep.sweeps.statistics.aggregates import Runs
from setsweep.sweeps.statistics.methods.best import Certificate, certificate
from setsweep.sweeps.statistics.methods.intervals import MeanInterval, differences_by_seed, mean_interval
from setsweep.sweeps.study.study import Arm, Point, Study, point_key
from setsweep.trainables.config.run_result import RunResult

Values = Mapping[int, float]  # by seed


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A difference of two means of different seeds, with its interval; None where it is not defined."""

    difference: float
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The search of one arm at one point.

    Args:
        arm, point: where.
        trials: what was tried, by number.
        plan: the rungs of the race; one where there is none.
        rounds: those of the race that have begun; the last of a search that is not finished has no means.
        runs: how many runs the search takes.
        chosen: number of the trial that the rule chooses; None while that is open.
        front: of several objectives: numbers of the trials that are confirmed, the chosen one first.
        stopped: the trials that were stopped as they were behind, with the epoch after which they were.
        saved: what that has saved, of all epochs of the search's runs so far.
        certificate: how far the choice may be below the best of the trials; its rival is the number of a trial.
        optimism: mean of the choice in the search minus its mean on fresh seeds, both on validation.
        tunability: chosen minus default on the study's primary test metric, paired by seed; None where the default is
            not confirmed.
    """

    arm: str
    point: Point
    trials: Mapping[int, Candidate]
    plan: tuple[Rung, ...]
    rounds: tuple[Round, ...]
    runs: int
    chosen: int | None
    front: tuple[int, ...] = ()
    stopped: Mapping[int, int] = field(default_factory=dict)
    saved: float = 0.0
    certificate: Certificate | None = None
    optimism: Gap | None = None
    tunability: MeanInterval | None = None

    @property
    def runs_of_all_seeds(self) -> int:
        """How many runs it would take to train every trial with every seed of the last."""
        return self.plan[0].trials * self.plan[-1].seeds

    @property
    def leader(self) -> int | None:
        """The choice, or while that is open the first of the last round that is over."""
        over = [each.survivors[0] for each in self.rounds if each.survivors]
        return self.chosen if self.chosen is not None else over[-1] if over else None

    @property
    def mean(self) -> float | None:
        """The choice's mean in the search, over the seeds that it was chosen by."""
        return None if self.chosen is None else self.rounds[-1].means[self.chosen]


def searched(study: Study, runs: Runs) -> list[Searched]:
    """Every arm that searches something at every point at which it has begun to, in the order of the study."""
    if study.search is None:
        return []
    places: dict[tuple[str, str], _Place] = {}
    for run, result in runs:
        if study.arms[run.arm].searched:
            places.setdefault((run.arm, point_key(run.point)), _Place(run.point)).take(run, result)
    found = []
    for point in study.points():
        for arm in study.arms.values():
            place = places.get((arm.name, point_key(point)))
            if place is not None and place.trials:
                found.append(_searched(study, arm, place))
    return found


@dataclass
class _Place:
    """The runs of one arm at one point, and the candidates of its trials by number."""

    point: Point
    runs: list[tuple[PlannedRun, RunResult | None]] = field(default_factory=list)
    trials: dict[int, Candidate] = field(default_factory=dict)

    def take(self, run: PlannedRun, result: RunResult | None) -> None:
        self.runs.append((run, result))
        if run.stage == "search" and run.trial is not None:
            self.trials.setdefault(run.trial, run.candidate)

    def values(self, stage: str, metric: str) -> dict[int, float]:
        """By seed what the runs of a stage give that have a number."""
        found = {
            run.seed: result.metrics.get(metric, math.nan) for run, result in self.runs if result and run.stage == stage
        }
        return {seed: value for seed, value in found.items() if math.isfinite(value)}


def _searched(study: Study, arm: Arm, place: _Place) -> Searched:
    search = study.search
    assert search is not None
    values = search_values(place.runs, search.objective, saturated=search.saturated)
    values = {number: values.get(number, {}) for number in sorted(place.trials)}
    count = max(search.trials_of(arm), len(values))
    own = search.seeds_of(arm)
    plan = rungs(count, len(own), search.race, search.least)
    seeds = search.first_seeds(max(len(own), search.race or 0))
    stopped = stopped_trials(place.runs)
    rounds = run_race(plan, seeds, values, stopped)
    chosen = _chosen(rounds, plan, place, stopped)
    return Searched(
        arm=arm.name,
        point=place.point,
        trials=dict(sorted(place.trials.items())),
        plan=plan,
        rounds=tuple(rounds),
        runs=runs_of(plan),
        chosen=chosen,
        front=_front(place.runs),
        stopped=dict(sorted(stopped.items())),
        saved=_saved(place.runs),
        certificate=_certificate(study, values, chosen),
        optimism=_optimism(study, place, values, rounds, chosen),
        tunability=_tunability(study, place),
    )


def _chosen(rounds: Sequence[Round], plan: Sequence[Rung], place: _Place, stopped: Collection[int]) -> int | None:
    """By the rule; of several objectives the one that was confirmed as the best by the first of them."""
    if len(rounds) < len(plan) or not rounds[-1].means:
        return None
    front = _front(place.runs)
    return front[0] if front else best_first(rounds[-1].means, stopped)[0]


def _saved(runs: Iterable[tuple[PlannedRun, RunResult | None]]) -> float:
    """The share of the epochs of a search that were not trained, as trials were stopped."""
    trained = [(run.config.training.epochs, result) for run, result in runs if run.stage == "search" and result]
    epochs = sum(all_epochs for all_epochs, _ in trained)
    return sum(all_epochs - result.pruned for all_epochs, result in trained if result.pruned) / max(epochs, 1)


def _front(runs: Iterable[tuple[PlannedRun, RunResult | None]]) -> tuple[int, ...]:
    """The trials that are confirmed under their numbers, the one that stands for the arm first."""
    members = {run.trial: run.stage for run, _ in runs if run.stage in ("confirm", "front") and run.trial is not None}
    return tuple(sorted(members, key=lambda number: (members[number] != "confirm", number)))


def _certificate(study: Study, values: Mapping[int, Values], chosen: int | None) -> Certificate | None:
    if chosen is None or study.search is None:
        return None
    others = [number for number in values if number != chosen]
    found = certificate(
        values[chosen],
        [values[number] for number in others],
        confidence=study.compare.confidence,
        replicated=study.search.race is None,
    )
    return found if found.rival is None else replace(found, rival=others[found.rival])


def _optimism(
    study: Study, place: _Place, values: Mapping[int, Values], rounds: Sequence[Round], chosen: int | None
) -> Gap | None:
    """Of the choice's mean in the search to its mean on fresh seeds; a run without a number counts as in the search.

    Where no run on fresh seeds gave a number nothing is known of it.
    """
    if chosen is None or study.search is None:
        return None
    metric, saturated = study.search.objective, study.search.saturated
    confirmed = [result for run, result in place.runs if result and run.stage == "confirm"]
    if all(result.status != "done" for result in confirmed):
        return None
    fresh = [value_in_search(result, metric, saturated=saturated) for result in confirmed]
    return gap([values[chosen][seed] for seed in rounds[-1].seeds], fresh, confidence=study.compare.confidence)


def _tunability(study: Study, place: _Place) -> MeanInterval | None:
    default = place.values("default", study.primary)
    if not default:
        return None
    differences = differences_by_seed(place.values("confirm", study.primary), default)
    pilot = None if study.confirm.half_width is None else len(study.confirm_seeds)
    return mean_interval(differences, confidence=study.compare.confidence, pilot=pilot)


def gap(first: Sequence[float], second: Sequence[float], *, confidence: float) -> Gap:
    """The mean of `first` minus that of `second`, of other seeds, with Student's interval for one common variance.

    ``d +- t s sqrt(1/m + 1/n)`` with s^2 of both together and m + n - 2 degrees of freedom, so that one value of a side
    is enough; without an interval where both have one value or nothing varies.
    """
    m, n = len(first), len(second)
    means = math.fsum(first) / m, math.fsum(second) / n
    difference = means[0] - means[1]
    squares = math.fsum(
        (value - mean) ** 2 for side, mean in zip((first, second), means, strict=True) for value in side
    )
    if m + n <= 2 or squares == 0:
        return Gap(difference=difference, ci_low=None, ci_high=None)
    from scipy.special import stdtrit  # imported late: listing studies must not wait for it

    error = math.sqrt(squares / (m + n - 2) * (1 / m + 1 / n))
    half = float(stdtrit(m + n - 2, (1 + confidence) / 2)) * error
    return Gap(difference=difference, ci_low=difference - half, ci_high=difference + half)
