"""Classes with few, medium and many training images."""

from __future__ import annotations

from torch import Tensor

from setsweep.trainables.evaluation.metric import FEW, MANY, Group


def class_groups(train_class_counts: Tensor) -> dict[Group, Tensor]:
    """Boolean masks over the classes: ``few`` (< 20 training images), ``medium`` and ``many`` (> 100); only non-empty
    ones.
    """
    few, many = train_class_counts < FEW, train_class_counts > MANY
    groups: dict[Group, Tensor] = {"few": few, "medium": ~few & ~many, "many": many}
    return {name: mask for name, mask in groups.items() if mask.any()}
