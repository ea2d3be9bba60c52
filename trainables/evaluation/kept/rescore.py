"""Metrics from kept scores, without the model: other set sizes, the other head, other probabilities, other thresholds.

The functions are those of training. Asked as the run was measured, they give what it recorded, to the precision in
which scores are kept (`setsweep.trainables.evaluation.kept.score_store`).

The best epoch of a metric that the run did not measure is the best of the kept epochs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from setsweep.losses.declaration import Probabilities
from setsweep.trainables.config.hits import Hits
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.config.run_result import RunResult
from setsweep.trainables.conformal.how import Conformal
from setsweep.trainables.evaluation.at_epoch import value_at
from setsweep.trainables.evaluation.best_epochs import BestEpochs
from setsweep.trainables.evaluation.kept.score_store import KeptScores
from setsweep.trainables.evaluation.kept.scored_splits import measured
from setsweep.trainables.evaluation.metric import TRAIN_LOSS, Metric
from setsweep.trainables.evaluation.metrics import Evaluation

PredictingHead = Literal["ml", "sccp"]
Head = PredictingHead | Literal["best"]


@dataclass(frozen=True, kw_only=True)
class Rescoring:
    """How kept scores are measured; what is None is as in the run.

    Args:
        k: the set sizes.
        head: of two heads the one that predicts; "best": for each accuracy the one that is better on validation.
        scores: how scores become probabilities.
        thresholds: the split that thresholds of average-k sets come from.
        coverage, conformal: which conformal sets are measured, and how they are made.
    """

    k: tuple[int, ...] | None = None
    head: Head | None = None
    scores: Probabilities | None = None
    thresholds: Literal["val", "test"] = "val"
    coverage: tuple[float, ...] | None = None
    conformal: Conformal | None = None


def rescored(
    result: RunResult, config: RunConfig, kept: KeptScores, how: Rescoring, *, at_epochs: Sequence[str] = ()
) -> RunResult:
    """What a run gives by its kept scores.

    Args:
        result: what it gave, done.
        config: of the run.
        kept: its scores.
        how: see `Rescoring`.
        at_epochs: metrics to have that are read at the best epoch of another accuracy (of the head that is better at
            that one), see `setsweep.trainables.evaluation.at_epoch`.

    Raises:
        ValueError: a head that the model has not, or a k beyond the classes.
    """
    found = best_epochs(config, kept, how)
    of_heads = {head: _result(result, {head: best}, kept) for head, best in found.items()}
    elsewhere = {}
    for name in at_epochs:
        at = Metric.parse(name).at
        if at is not None and at.name in next(iter(found.values())).epoch:
            elsewhere[name] = value_at(of_heads[better_head(found, at.name)], name)
    measured_there = {name: value for name, value in elsewhere.items() if value is not None}
    whole = _result(result, found, kept)
    return replace(whole, metrics={**whole.metrics, **measured_there})


def best_epochs(config: RunConfig, kept: KeptScores, how: Rescoring) -> dict[PredictingHead, BestEpochs]:
    """For each head asked for the best epochs of its accuracies, with all that was measured at them."""
    heads = {name: asked_config(config, how, name) for name in heads_asked(config, how)}
    found = {name: BestEpochs(config.training.keep) for name in heads}
    tests: dict[PredictingHead, dict[int, Evaluation]] = {name: {} for name in heads}
    for epoch in kept.precisions:
        scores = kept.epoch(epoch)
        for name, asked in heads.items():
            val, test = measured(scores, kept.truth, asked, 1 if name == "sccp" else 0, how.thresholds)
            best = found[name]
            best.update(epoch, best.improved(val.metrics), val.metrics, val.thresholds)
            if test is not None:
                tests[name][epoch] = test
    for head, best in found.items():
        for epoch, test in tests[head].items():
            best.add_test(epoch, test)
    return found


def better_head(found: Mapping[PredictingHead, BestEpochs], criterion: str) -> PredictingHead:
    """The head whose accuracy is higher on validation, of equal ones the first."""
    return max(found, key=lambda head: found[head].value[criterion])


def heads_asked(config: RunConfig, how: Rescoring) -> tuple[PredictingHead, ...]:
    """The heads to measure; where there is one, that one. Raises ValueError: the other one scores no classes."""
    declaration = loss_declaration(config.loss["name"])
    head = how.head or config.training.head
    if declaration.head != "two_head":
        return ("ml",)
    if not declaration.either_head_predicts:
        if head == "sccp":
            rule = f"must be ml or best with {declaration.name}, whose other head does not score the classes, got sccp."
            raise ValueError(f"training.head {rule}")
        return ("ml",)
    return ("ml", "sccp") if head == "best" else (head,)


def asked_config(config: RunConfig, how: Rescoring, head: PredictingHead) -> RunConfig:
    """The configuration by which a run would have been measured like this."""
    scores = how.scores or config.training.threshold_scores
    training = replace(config.training, head=head, threshold_scores=scores)
    return replace(
        config,
        k=how.k or config.k,
        training=training,
        coverage=config.coverage if how.coverage is None else how.coverage,
        conformal=how.conformal or config.conformal,
    )


def _result(result: RunResult, found: Mapping[PredictingHead, BestEpochs], kept: KeptScores) -> RunResult:
    """The result with each criterion as its better head on validation has it, of equal ones the first."""
    first, *others = found.values()
    best = BestEpochs(first.keep)
    for criterion in first.epoch:
        own = found[better_head(found, criterion)]
        best.epoch[criterion], best.measured[criterion] = own.epoch[criterion], own.measured[criterion]
        best.hits |= {name: bits for name, bits in own.hits.items() if name == criterion}
        sets = Metric.parse(criterion)
        if sets.rule == "avg" and not sets.macro:
            best.thresholds[str(sets.k)] = own.thresholds[str(sets.k)]
    return replace(
        result,
        metrics={**best.metrics(), TRAIN_LOSS.name: result.metrics[TRAIN_LOSS.name]},
        best_epoch=best.epoch,
        tested=first.tested if not others else {},
        thresholds=best.thresholds,
        epochs=(),
        curves={},
        hits=Hits(len(kept.truth.labels["test"]), kept.truth.name, best.hits) if best.hits else None,
    )
