"""Picks test images for the page, with the sets that the kept model of each arm gives them."""

from __future__ import annotations

import base64
import io
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from setsweep.data.augment import centre_crop
from setsweep.data.dataset import Dataset
from setsweep.sweeps.execution.datasets import DatasetCache
from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.study_folder import model_folder
from setsweep.sweeps.reports.examples import KINDS, Example, Examples, Kind
from setsweep.sweeps.reports.report import Report
from setsweep.sweeps.study.study import Point, Study
from setsweep.trainables.evaluation.metric import Metric
from setsweep.trainables.evaluation.predictor import SetPredictor

MOST_POINTS = 4  # of the grid, the first ones: each adds up to 50 kB to the page
OF_EACH_KIND = 4
SIDE = 64  # pixels of an image, at most
_FEWEST, _MOST = 48, 200  # test images that are looked at
_NUMBERS = 5_000_000  # in all that are looked at: ResNets take seconds for so many


def find_examples(report: Report, runs: Sequence[PlannedRun], folder: Path, datasets: DatasetCache) -> list[Examples]:
    """The images of the first points of the grid at which models were kept; none where inputs are no images.

    Args:
        report: of the study.
        runs: all of its runs.
        folder: of the study.
        datasets: gives the data.

    Raises:
        ValueError: data or a model that can't be read.
    """
    found = []
    for point in report.study.points()[:MOST_POINTS]:
        here = [run for run in runs if run.point == point and run.stage == "confirm"]
        kept = {run.arm: run for run in here if (model_folder(folder, run) / "model.pt").exists()}
        if kept:
            found += _at_point(report, point, kept, folder, datasets)
    return found


def _at_point(
    report: Report, point: Point, kept: Mapping[str, PlannedRun], folder: Path, datasets: DatasetCache
) -> list[Examples]:
    study, by = report.study, _best(report, point, list(kept))
    config = kept[by].config
    dataset = datasets.dataset(Job(configs=(config,), root=study.data_root, download=study.download), config)
    if len(dataset.input_shape) != 3:
        return []
    chosen = _looked_at(dataset)
    images, labels, k = _images(dataset, chosen), dataset.test.labels[chosen], _set_size(study)
    sets = {arm: _sets(study, model_folder(folder, run), images, k) for arm, run in kept.items()}
    names = dataset.class_names or [str(label) for label in range(dataset.num_classes)]
    examples = [
        Example(
            kind=kind,
            image=_thumbnail(images[index]),
            label=names[labels[index]],
            sets={arm: [names[label] for label in found[index]] for arm, found in sets.items()},
        )
        for kind, picked in _picked(sets[by], labels.tolist()).items()
        for index in picked
    ]
    return [Examples(point=dict(point), k=k, by=by, looked_at=len(chosen), examples=examples)]


def _best(report: Report, point: Point, arms: Sequence[str]) -> str:
    """The arm with the best primary metric among those that have a model; without numbers the first."""
    metric = report.study.primary
    means = {
        a.arm: a.mean
        for a in report.aggregates
        if (a.stage, a.metric, a.point) == ("confirm", metric, point) and a.arm in arms and a.mean is not None
    }
    return max(means, key=lambda arm: means[arm], default=arms[0])


def _set_size(study: Study) -> int:
    own = Metric.find(study.primary)
    return own.k if own is not None and own.k in study.k else study.k[-1]


def _looked_at(dataset: Dataset) -> Tensor:
    """Indices of test images, spread evenly; fewer of large ones."""
    numbers = int(np.prod(dataset.input_shape))
    count = min(len(dataset.test), max(_FEWEST, min(_MOST, _NUMBERS // numbers)))
    return torch.linspace(0, len(dataset.test) - 1, count).round().long()


def _images(dataset: Dataset, chosen: Tensor) -> np.ndarray:
    """(n, channels, height, width) uint8, as the model is given them."""
    inputs = dataset.test.inputs
    if isinstance(inputs, Tensor):
        return (inputs[chosen] if dataset.crop is None else centre_crop(inputs[chosen], dataset.crop)).numpy()
    own = inputs.subset(chosen)
    return np.stack([np.asarray(own.read(index, size=dataset.input_shape[1])) for index in range(len(own))])


def _sets(study: Study, folder: Path, images: np.ndarray, k: int) -> list[list[int]]:
    """The classes of each image's average-k set, the likeliest first."""
    model = SetPredictor(folder, trusted=[Path(study.path).parent])
    inside, likely = model.predict(images, {"k": k, "sets": "avg"}), model.probabilities(images)
    return [
        sorted(np.flatnonzero(row).tolist(), key=lambda label, own=own: -own[label])  # type: ignore[misc]
        for row, own in zip(np.asarray(inside), likely, strict=True)
    ]


def _picked(sets: Sequence[Sequence[int]], labels: Sequence[int]) -> dict[Kind, list[int]]:
    """Some images of each kind, none twice; large and small: other than the usual size, the median."""
    sizes = [len(each) for each in sets]
    hits = [label in own for label, own in zip(labels, sets, strict=True)]
    usual, order = statistics.median(sizes), sorted(range(len(sets)), key=lambda index: sizes[index])
    wanted: dict[Kind, list[int]] = {
        "wrong": [index for index, hit in enumerate(hits) if not hit],
        "large set": [index for index in reversed(order) if sizes[index] > usual],
        "small set": [index for index in order if sizes[index] < usual],
        "right": [index for index, hit in enumerate(hits) if hit],
    }
    picked: dict[Kind, list[int]] = {}
    for kind, indices in wanted.items():
        taken = {index for others in picked.values() for index in others}
        picked[kind] = [index for index in indices if index not in taken][:OF_EACH_KIND]
    return {kind: picked[kind] for kind in KINDS}


def _thumbnail(image: np.ndarray) -> str:
    """A small file, in base64: PNG of few pixels, else JPEG."""
    shown = Image.fromarray(image.transpose(1, 2, 0) if len(image) == 3 else image[0])
    small = max(shown.size) <= SIDE // 2
    shown.thumbnail((SIDE, SIDE))
    file = io.BytesIO()
    shown.save(file, format="PNG", optimize=True) if small else shown.save(file, format="JPEG", quality=80)
    return base64.b64encode(file.getvalue()).decode()
