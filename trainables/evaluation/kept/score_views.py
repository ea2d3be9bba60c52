"""What kept scores tell beyond means: how large the sets are, which classes are found, and accuracy against k.

All of it at one epoch: the best of some accuracy on validation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.evaluation.class_groups import class_groups
from setsweep.trainables.evaluation.kept.rescore import Rescoring, asked_config, best_epochs, better_head
from setsweep.trainables.evaluation.kept.score_store import KeptScores
from setsweep.trainables.evaluation.kept.scored_splits import conformal_sizes
from setsweep.trainables.evaluation.metric import Group, Metric, SetRule
from setsweep.trainables.evaluation.metrics import label_ranks
from setsweep.trainables.evaluation.probabilities import probabilities_of, scale_of, to_probabilities
from setsweep.trainables.evaluation.thresholds import ThresholdSelection, at_least


@dataclass(frozen=True)
class ScoreView:
    """The scores of one head at one epoch, and what they are measured against.

    Args:
        calibration: (examples, classes) scores that thresholds come from.
        test: (examples, classes) scores.
        labels: (examples,) of the test split.
        train_class_counts: (classes,) training examples of each class.
        config: by which scores become probabilities.
        epoch: of the scores.
        conformal_sizes: gives how many classes the conformal sets of the test examples have, (examples,), by the name
            of the sets.
    """

    calibration: Tensor
    test: Tensor
    labels: Tensor
    train_class_counts: Tensor
    config: RunConfig
    epoch: int
    conformal_sizes: Callable[[], Mapping[str, Tensor]] = dict

    def thresholds(self, ks: Sequence[int]) -> dict[int, float]:
        """The threshold of each k."""
        selection = ThresholdSelection(ks, self.calibration.shape[1], len(self.calibration))
        selection.add(self._probabilities(self.calibration))
        return selection.finish()[0]

    def hits(self, rule: SetRule, ks: Sequence[int]) -> dict[int, Tensor]:
        """For each k whether each test label is in its set: (examples,) bool."""
        if rule == "top":
            ranks = label_ranks(self.test, self.labels)
            return {k: ranks < k for k in ks}
        own = self._probabilities(self.test).gather(1, self.labels.unsqueeze(1)).squeeze(1)
        return {k: at_least(own, threshold) for k, threshold in self.thresholds(ks).items()}

    def set_sizes(self, sets: str) -> Tensor:
        """(examples,) how many classes the set of each test example has.

        Args:
            sets: "avg5", "top5", or conformal ones by their name ("lac90").
        """
        metric = Metric.parse(f"{sets}_set_size")
        if metric.conformal is not None:
            return self.conformal_sizes()[sets]
        assert metric.k is not None, "sets by a rule have one"
        if metric.rule == "top":
            return torch.full((len(self.labels),), metric.k)
        return at_least(self._probabilities(self.test), self.thresholds([metric.k])[metric.k]).sum(1)

    def size_histograms(self, sets: str) -> dict[Group | None, Tensor]:
        """How many sets have 0, 1, ... classes: of all test examples (None), and of those of each group."""
        sizes = self.set_sizes(sets)
        whole: dict[Group | None, Tensor] = {None: sizes.bincount()}
        groups = class_groups(self.train_class_counts)
        return whole | {name: sizes[mask[self.labels]].bincount() for name, mask in groups.items() if len(groups) > 1}

    def per_class(self, rule: SetRule, k: int) -> tuple[Tensor, Tensor]:
        """(classes,) test examples of each class, and the share of them whose sets hold it; NaN where it has none."""
        classes = len(self.train_class_counts)
        found = torch.zeros(classes, dtype=torch.float64)
        found.index_add_(0, self.labels, self.hits(rule, [k])[k].double())
        examples = self.labels.bincount(minlength=classes)
        return examples, found / examples

    def _probabilities(self, scores: Tensor) -> Tensor:
        return to_probabilities(scores, probabilities_of(self.config), scale_of(self.config))


def view(config: RunConfig, kept: KeptScores, how: Rescoring, criterion: str) -> ScoreView:
    """The scores at the best epoch of an accuracy, of the head that is asked for or better at it.

    Raises:
        ValueError: the accuracy is not of the set sizes asked for, or no test scores were kept.
    """
    found = best_epochs(config, kept, how)
    known = next(iter(found.values())).epoch
    if criterion not in known:
        raise ValueError(f"at must be one of {', '.join(sorted(known))}, got {criterion!r}.")
    head = better_head(found, criterion)
    asked = asked_config(config, how, head)
    epoch = found[head].epoch[criterion]
    scores = kept.epoch(epoch)
    if "test" not in scores:
        raise ValueError(f"scores of the test split must be kept, got those of validation alone in {kept.folder}.")
    place = 1 if head == "sccp" else 0
    return ScoreView(
        scores[how.thresholds][place],
        scores["test"][place],
        kept.truth.labels["test"],
        kept.truth.train_class_counts,
        asked,
        epoch,
        partial(conformal_sizes, scores, kept.truth, asked, place),
    )
