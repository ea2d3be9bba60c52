"""Conformal sets of one run: their thresholds from its calibration split, and what they are measured by on another.

Both come in chunks. Memory holds the scores of some rows and a few numbers per example; scores are sorted within a row
only, where a sum down to a class needs that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from setsweep.data.seeding import seeded_generator
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.conformal import how
from setsweep.trainables.conformal.measures import measures, of_groups
from setsweep.trainables.conformal.scores import prevalence_of
from setsweep.trainables.conformal.sets import ConformalSets, ScoreName, all_sets
from setsweep.trainables.evaluation.class_groups import class_groups
from setsweep.trainables.evaluation.metric import Metric, conformal_metric
from setsweep.trainables.evaluation.probabilities import probabilities_of

NUMBERS = 2**20  # float64 scores at a time; sorting them takes five times that

Thresholds = Mapping[ConformalSets, Tensor]  # of each class, float64 on the CPU


def conformal_sets(config: RunConfig) -> tuple[ConformalSets, ...]:
    """The sets that a run is measured by."""
    return all_sets(config.coverage, config.conformal.scores, config.conformal.calibrations)


class Scorer:
    """Scores the classes of examples as a run asks for it.

    Args:
        config: of the run.
        train_class_counts: (classes,) training examples of each class.
    """

    def __init__(self, config: RunConfig, train_class_counts: Tensor) -> None:
        self.how, self.seed, self.num_classes = config.conformal, config.seed, len(train_class_counts)
        self._prevalence = prevalence_of(train_class_counts)
        self._sum = 1.0 if probabilities_of(config) == "softmax" else float(self.num_classes)

    def draws(self, purpose: str, examples: int) -> Tensor:
        """(examples,) from 0 to 1, the same whenever they are asked for."""
        return torch.rand(examples, generator=seeded_generator(self.seed, f"conformal/{purpose}"))

    @staticmethod
    def in_parts(probabilities: Tensor, *others: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """Some rows at a time, as many as may be scored together; of `others` those that go with them."""
        size = max(1, NUMBERS // probabilities.shape[1])
        return zip(*(torch.split(each, size) for each in (probabilities, *others)), strict=True)

    def score(self, name: ScoreName, probabilities: Tensor, draws: Tensor) -> Tensor:
        """(rows, classes) float64, see `setsweep.trainables.conformal.how.nonconformity`."""
        drawn = draws.to(probabilities.device)
        return how.nonconformity(name, probabilities, self.how, prevalence=self._prevalence, draws=drawn)

    def thresholds(self, sets: ConformalSets, scores: Tensor, labels: Tensor) -> Tensor:
        """(classes,) from the scores of calibration examples' labels, both (examples,)."""
        return how.thresholds(
            sets.calibration,
            scores,
            labels,
            sets.coverage,
            self.how,
            largest=how.largest_score(
                sets.score, self.how, num_classes=self.num_classes, sum_of_probabilities=self._sum
            ),
            num_classes=self.num_classes,
            generator=seeded_generator(self.seed, "conformal/clusters"),
        )


class Calibrator:
    """Finds the thresholds of conformal sets on a split whose probabilities come chunk by chunk.

    Args:
        sets: whose thresholds.
        scorer: of the run.
        examples: how many there will be.
    """

    def __init__(self, sets: tuple[ConformalSets, ...], scorer: Scorer, examples: int) -> None:
        self._sets, self._scorer = sets, scorer
        self._draws = scorer.draws("calibration", examples)
        self._scores: dict[ScoreName, list[Tensor]] = {each.score: [] for each in sets}
        self._labels: list[Tensor] = []

    def add(self, probabilities: Tensor, labels: Tensor) -> None:
        """Take in a chunk: probabilities (rows, classes) and labels (rows,)."""
        drawn, self._draws = self._draws[: len(labels)], self._draws[len(labels) :]
        for part, part_labels, draws in self._scorer.in_parts(probabilities, labels, drawn):
            self._labels.append(part_labels)
            for name, scores in self._scores.items():
                found = self._scorer.score(name, part, draws)
                scores.append(found.gather(1, part_labels.unsqueeze(1)).squeeze(1))

    def finish(self) -> Thresholds:
        """The thresholds of each kind of sets.

        Raises:
            ValueError: too few examples for a coverage.
        """
        labels = torch.cat(self._labels).cpu()  # a threshold for each of many classes is many small selections
        whole = {name: torch.cat(scores).cpu() for name, scores in self._scores.items()}
        return {each: self._scorer.thresholds(each, whole[each.score], labels) for each in self._sets}


class ConformalMeter:
    """Measures conformal sets on a split whose probabilities come chunk by chunk.

    Args:
        thresholds: see `Calibrator`.
        scorer: of the run.
        train_class_counts: (classes,) training examples of each class, whose groups are measured as well.
        examples: how many there will be.
    """

    def __init__(self, thresholds: Thresholds, scorer: Scorer, train_class_counts: Tensor, examples: int) -> None:
        self._thresholds, self._scorer, self._train_class_counts = thresholds, scorer, train_class_counts
        self._draws = scorer.draws("test", examples)
        self._found: dict[ConformalSets, list[tuple[Tensor, Tensor]]] = {each: [] for each in thresholds}
        self._labels: list[Tensor] = []

    def add(self, probabilities: Tensor, labels: Tensor) -> None:
        """Take in a chunk: probabilities (rows, classes) and labels (rows,)."""
        drawn, self._draws = self._draws[: len(labels)], self._draws[len(labels) :]
        for part, part_labels, draws in self._scorer.in_parts(probabilities, labels, drawn):
            self._labels.append(part_labels)
            for name in dict.fromkeys(each.score for each in self._thresholds):
                scores = self._scorer.score(name, part, draws)
                for each, thresholds in self._thresholds.items():
                    if each.score == name:
                        inside = scores <= thresholds.to(scores.device)
                        covered = inside.gather(1, part_labels.unsqueeze(1)).squeeze(1)
                        self._found[each].append((covered, inside.sum(1)))

    def sizes(self) -> dict[ConformalSets, Tensor]:
        """(examples,) how many classes each set has."""
        return {each: torch.cat([sizes for _, sizes in parts]) for each, parts in self._found.items()}

    def finish(self) -> dict[Metric, float]:
        """All that is measured, over all classes and by group where there are groups."""
        labels = torch.cat(self._labels)
        groups = class_groups(self._train_class_counts.to(labels.device))
        metrics: dict[Metric, float] = {}
        for each, parts in self._found.items():
            covered, sizes = (torch.cat(part) for part in zip(*parts, strict=True))
            of_all = measures(covered, sizes, labels, num_classes=self._scorer.num_classes, coverage=each.coverage)
            metrics |= {conformal_metric(each, name): value for name, value in of_all.items()}
            if len(groups) > 1:
                found = of_groups(covered, sizes, labels, groups, coverage=each.coverage)
                for group, of_group in found.items():
                    metrics |= {conformal_metric(each, name, group=group): value for name, value in of_group.items()}
        return metrics
