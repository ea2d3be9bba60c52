"""Checks that what a user's function gives is a data set that can be trained on."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from setsweep.data.class_folders import some
from setsweep.data.dataset import Dataset, Split
from setsweep.data.image_files import ImageFiles

_SPLITS = ("train", "val", "test")


def check_dataset(dataset: Any, *, source: str) -> Dataset:
    """The data set itself, once every rule of `Dataset` holds.

    Args:
        dataset: anything.
        source: who made it, for messages.

    Raises:
        ValueError: the first rule that it breaks.
    """
    _require(isinstance(dataset, Dataset), source, "give a setsweep.data.dataset.Dataset", type(dataset).__name__)
    classes = dataset.num_classes
    _require(type(classes) is int and classes >= 2, f"{source}: num_classes", "be a whole number >= 2", repr(classes))
    splits = _SPLITS if dataset.calibration is None else (*_SPLITS, "calibration")
    for name in splits:
        _check_split(getattr(dataset, name), f"{source}: {name}", classes)
    forms = {name: _form_of_one(getattr(dataset, name).inputs) for name in splits}
    _require(len(set(forms.values())) == 1, f"{source}: examples", "be alike in all splits", str(forms))
    _check_classes(dataset, source)
    _check_crop(dataset, source)
    _check_normalisation(dataset, source)
    return dataset  # type: ignore[no-any-return]  # by the first line


def _check_split(split: Any, source: str, classes: int) -> None:
    _require(isinstance(split, Split), source, "be a setsweep.data.dataset.Split", type(split).__name__)
    inputs, labels = split.inputs, split.labels
    if not isinstance(inputs, ImageFiles):
        _check_tensor(inputs, f"{source}.inputs")
    right = isinstance(labels, Tensor) and labels.is_cpu and (labels.dtype, labels.dim()) == (torch.int64, 1)
    _require(right, f"{source}.labels", "be a CPU tensor (n,) int64", _form(labels))
    sizes = len(inputs), len(labels)
    _require(sizes[0] == sizes[1] > 0, source, "have as many inputs as labels, at least 1", f"{sizes[0]}, {sizes[1]}")
    low, high = int(labels.min()), int(labels.max())
    rule = f"be between 0 and num_classes - 1 = {classes - 1}"
    _require(0 <= low <= high < classes, f"{source}.labels", rule, f"{low}..{high}")


def _check_tensor(inputs: Any, source: str) -> None:
    rule = "be a CPU tensor: images (n, channels, height, width) uint8, or finite numbers (n, features) float32"
    right = isinstance(inputs, Tensor) and inputs.is_cpu and not inputs.requires_grad
    right = right and (inputs.dtype, inputs.dim()) in {(torch.uint8, 4), (torch.float32, 2)}
    _require(right, source, rule, _form(inputs))
    _require(bool(inputs.isfinite().all()), source, rule, "inf or nan")


def _check_classes(dataset: Dataset, source: str) -> None:
    classes, groups, names = dataset.num_classes, dataset.superclasses, dataset.class_names
    counts = torch.bincount(dataset.train.labels, minlength=classes)
    empty = [str(number) for number in (counts == 0).nonzero().flatten().tolist()]
    _require(not empty, f"{source}: train", "have an example of every class", f"none of {some(empty)}")
    right = groups is None or (
        isinstance(groups, Tensor)
        and (groups.dtype, groups.shape) == (torch.int64, (classes,))
        and bool((groups >= 0).all())
    )
    _require(right, f"{source}: superclasses", f"be a tensor ({classes},) int64 >= 0, or None", _form(groups))
    right = isinstance(names, tuple) and len(names) in (0, classes) and all(isinstance(name, str) for name in names)
    got = f"tuple of {len(names)}" if isinstance(names, tuple) else type(names).__name__
    _require(right, f"{source}: class_names", f"be a tuple of {classes} names, or empty", got)


def _check_crop(dataset: Dataset, source: str) -> None:
    inputs, crop, subject = dataset.train.inputs, dataset.crop, f"{source}: crop"
    if isinstance(inputs, Tensor) and inputs.dim() == 2:
        _require(crop is None, subject, "be None for vectors", repr(crop))
        return
    if isinstance(inputs, ImageFiles):
        _require(_is_side(crop, inputs.resize), subject, f"be between 1 and {inputs.resize}", repr(crop))
    else:
        side = min(inputs.shape[2:])
        _require(crop is None or _is_side(crop, side), subject, f"be None or between 1 and {side}", repr(crop))


def _is_side(value: object, most: int) -> bool:
    return type(value) is int and 1 <= value <= most


def _check_normalisation(dataset: Dataset, source: str) -> None:
    images = len(dataset.input_shape) == 3
    channels = dataset.input_shape[0] if images else 0
    rule = f"be a tuple of {channels} numbers, or None" if images else "be None for vectors"
    for name in ("mean", "std"):
        values = getattr(dataset, name)
        right = isinstance(values, tuple) and len(values) == channels and all(type(x) in (int, float) for x in values)
        _require(values is None or (images and right), f"{source}: {name}", rule, repr(values))
    mean, std = dataset.mean, dataset.std
    _require((mean is None) == (std is None), f"{source}: mean and std", "be given together", f"{mean}, {std}")
    _require(std is None or min(std) > 0, f"{source}: std", "be > 0", repr(std))


def _require(fulfilled: bool, subject: str, rule: str, got: str) -> None:
    if not fulfilled:
        raise ValueError(f"{subject} must {rule}, got {got}.")


def _form_of_one(inputs: Tensor | ImageFiles) -> str:
    return _form(inputs[0]) if isinstance(inputs, Tensor) else f"image files scaled to {inputs.resize}"


def _form(value: object) -> str:
    """What kind of thing a value is; of a tensor its shape, its type, and what else may be wrong with it."""
    if not isinstance(value, Tensor):
        return type(value).__name__
    more = ("" if value.is_cpu else f" on {value.device}") + (" that requires grad" if value.requires_grad else "")
    return f"{tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}{more}"
