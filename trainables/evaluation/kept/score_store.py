"""The scores of a run on disk: of each kept epoch, of every head, on validation and test, and on a calibration split
where there is one.

A run has a folder with a file an epoch and, written last, ``scores.json``: without that it is not whole. The labels of
the splits and the class counts of the training split lie beside the runs' folders, once for all runs that share them.

Scores are kept as their distance from the largest of their row, in 16 bits: rounding keeps their order within a row.
Of float16, bfloat16 and fixed16 (65,536 equal steps from the largest score of the row to the smallest: at 100 classes
and 10,000 examples mostly the first that is fine enough) the first is taken with which no metric of any head differs by
more than `TOLERANCE` from that of the exact scores; where all do, they are kept in single precision.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from setsweep.data.dataset import Dataset
from setsweep.trainables.checkpoint import save_checkpoint
from setsweep.trainables.config.losses import loss_declaration
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.evaluation.kept.scored_splits import Splits, Truth, measured
from setsweep.trainables.evaluation.metric import accuracies
from setsweep.trainables.places import AnyPath, remove_folder, write_whole

TOLERANCE = 1e-4  # of accuracies as shares, and of mean set sizes
INDEX = "scores.json"
BYTES = 4  # of a score, at most
_STEPS = 2**16 - 1

Precision = Literal["float16", "bfloat16", "fixed16", "float32"]
_SHORT: tuple[Precision, ...] = ("float16", "bfloat16", "fixed16")


class ScoreWriter:
    """Writes the scores of one run.

    Args:
        folder: of the run; whatever is in it goes.
        config: of the run.
        dataset: its data.
    """

    def __init__(self, folder: AnyPath, config: RunConfig, dataset: Dataset) -> None:
        self._folder, self._config, self._truth = folder, config, Truth.of(dataset)
        self._precisions: dict[int, Precision] = {}
        self._heads = 0
        remove_folder(folder)

    def add(self, epoch: int, scores: Splits) -> None:
        """Write the scores of an epoch, unless they are written."""
        if epoch in self._precisions:
            return
        precision = fitting_precision(scores, self._truth, self._config)
        packed: dict[str, Any] = {split: [_pack(head, precision) for head in heads] for split, heads in scores.items()}
        save_checkpoint(packed, self._folder / f"{epoch}.pt")
        self._precisions[epoch] = precision
        self._heads = len(scores["val"])

    def finish(self) -> None:
        """Write what makes the scores whole."""
        truth = self._folder.parent / _truth_file(self._truth.name)
        if not truth.exists():
            counts = {"train_class_counts": self._truth.train_class_counts}
            labels = {split: each.clone() for split, each in self._truth.labels.items()}  # a view would save its whole
            save_checkpoint({"labels": labels, **counts}, truth)
        precisions = {str(epoch): self._precisions[epoch] for epoch in sorted(self._precisions)}
        index = {"key": self._config.key, "truth": self._truth.name, "heads": self._heads, "epochs": precisions}
        write_whole(json.dumps(index).encode(), self._folder / INDEX)


@dataclass(frozen=True)
class KeptScores:
    """The scores of one run, read epoch by epoch as they are asked for.

    Args:
        folder: of the run.
        truth: what they are measured against.
        heads: how many there are.
        precisions: of the kept epochs, in ascending order, how their scores are kept: "float16", ...
    """

    folder: Path
    truth: Truth
    heads: int
    precisions: Mapping[int, str]

    def epoch(self, epoch: int) -> Splits:
        """The scores of a kept epoch."""
        packed = torch.load(self.folder / f"{epoch}.pt", map_location="cpu", weights_only=True)
        return {split: tuple(map(_unpack, heads)) for split, heads in packed.items()}


def most_bytes(config: RunConfig, dataset: Dataset) -> int:
    """What the scores of a run take at most: every accuracy may have a best epoch of its own."""
    declaration, training = loss_declaration(config.loss["name"]), config.training
    heads = 2 if declaration.head == "two_head" and declaration.either_head_predicts else 1
    epochs = 1 if training.keep == "last" else min(len(accuracies(config.k)) + len(config.metrics), training.epochs)
    rows = len(dataset.val) + (len(dataset.test) if config.test else 0)
    rows += len(dataset.calibration) if config.test and dataset.calibration is not None else 0
    return epochs * heads * rows * dataset.num_classes * BYTES


def read_scores(folder: Path) -> KeptScores | None:
    """The scores in the folder of a run, or None: there are none, or they are not whole."""
    path = folder / INDEX
    if not path.exists():
        return None
    index = json.loads(path.read_text(encoding="utf-8"))
    saved = torch.load(folder.parent / _truth_file(index["truth"]), map_location="cpu", weights_only=True)
    precisions = {int(epoch): precision for epoch, precision in index["epochs"].items()}
    return KeptScores(folder, Truth(saved["labels"], saved["train_class_counts"]), index["heads"], precisions)


def fitting_precision(scores: Splits, truth: Truth, config: RunConfig) -> Precision:
    """The precision in which an epoch's scores are kept; see above."""
    exact = [metrics_of_head(scores, number, truth, config) for number in range(len(scores["val"]))]
    for precision in _SHORT:
        kept = {split: tuple(_unpack(_pack(head, precision)) for head in heads) for split, heads in scores.items()}
        if all(_close(metrics_of_head(kept, number, truth, config), each) for number, each in enumerate(exact)):
            return precision
    return "float32"


def metrics_of_head(scores: Splits, head: int, truth: Truth, config: RunConfig) -> dict[str, float]:
    """All metrics of a head on validation and, with its thresholds, on test; by name with the split."""
    val, test = measured(scores, truth, config, head)
    found = {f"val/{name}": value for name, value in val.metrics.items()}
    return found if test is None else found | {f"test/{name}": value for name, value in test.metrics.items()}


def _close(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return all(abs(one[name] - value) <= TOLERANCE for name, value in other.items())


def _pack(scores: Tensor, precision: Precision) -> dict[str, Tensor]:
    if precision == "float32":
        return {"scores": scores}
    largest = scores.amax(1, keepdim=True)
    if precision == "fixed16":
        step = ((largest - scores.amin(1, keepdim=True)) / _STEPS).clamp_min(torch.finfo(torch.float32).tiny)
        steps = ((largest - scores) / step).round().clamp(0, _STEPS).nan_to_num(0)
        return {"steps": (steps - 2**15).to(torch.int16), "step": step, "largest": largest}
    return {"below": (scores - largest).to(getattr(torch, precision)), "largest": largest}


def _unpack(packed: Mapping[str, Tensor]) -> Tensor:
    if "scores" in packed:
        return packed["scores"]
    if "steps" in packed:
        return packed["largest"] - packed["step"] * (packed["steps"].float() + 2**15)
    return packed["largest"] + packed["below"].float()


def _truth_file(name: str) -> str:
    return f"labels-{name}.pt"
