"""Losses for set-valued classification: pure torch, one value per example, chosen by name from one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from setsweep.losses.declaration import LossDeclaration
from setsweep.losses.reading import read_declarations
from setsweep.losses.values import unknown

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

__all__ = ["LOSSES", "build_loss"]

FILES = (
    "cross_entropy",
    "focal",
    "ldam",
    "single_positive",
    "role",
    "avgk",
    "topk_hinge",
    "smooth_topk_hinge",
    "noised_topk_hinge",
    "topk_transition",
    "logit_adjustment",
    "differentiable_topk",
    "cardinality_aware",
    "conftr",
)
"""Where losses are; listings have them in this order."""

LOSSES: dict[str, LossDeclaration] = {
    declaration.name: declaration for file in FILES for declaration in read_declarations(f"{__name__}.{file}")
}


def build_loss(
    name: str | LossDeclaration,
    *,
    num_classes: int,
    k: int | None = None,
    class_counts: Tensor | Sequence[int] | None = None,
    num_examples: int | None = None,
    generator: torch.Generator | None = None,
    **hyperparameters: object,
) -> nn.Module:
    """The loss of that name, called as ``loss(scores, labels)`` and giving one value per example.

    Args:
        name: a key of `LOSSES`, or a declaration that is none of them.
        num_classes: number of columns of the scores, at least 2.
        k: set size, 1 to num_classes - 1. Like the next three, ignored by losses that do not need it.
        class_counts: (classes,) training examples of each class.
        num_examples: number of training examples, which `indices` count from 0.
        generator: where losses with noise draw it; None is torch's global generator.
        hyperparameters: by name; the others take their defaults.

    Raises:
        ValueError: an unknown name, an illegal value, or something that the loss needs is missing.
    """
    from setsweep.losses.checks import check_k

    declaration = name if isinstance(name, LossDeclaration) else LOSSES.get(name)
    if declaration is None:
        raise ValueError(unknown("loss", name, LOSSES))
    name = declaration.name
    if not isinstance(num_classes, int) or num_classes < 2:
        raise ValueError(f"num_classes must be a whole number >= 2, got {num_classes!r}.")
    for given in hyperparameters:
        if given not in declaration.hyperparameters:
            raise ValueError(unknown(f"hyperparameter of {name}", given, declaration.hyperparameters))
    arguments: dict[str, Any] = {
        key: known.check(key, hyperparameters.get(key, known.default))
        for key, known in declaration.hyperparameters.items()
    }
    if declaration.needs_k:
        arguments["k"] = check_k(k, num_classes)
    if declaration.needs_class_counts:
        arguments["class_counts"] = _checked_counts(name, class_counts, num_classes)
    if declaration.needs_indices:
        arguments["num_examples"] = _checked_num_examples(name, num_examples)
    if declaration.needs_generator:
        arguments["generator"] = generator
    return declaration.module(num_classes=num_classes, **arguments)


def _checked_counts(name: str, class_counts: Tensor | Sequence[int] | None, num_classes: int) -> Tensor:
    import torch

    if class_counts is None:
        raise ValueError(f"class_counts must be given for {name}: the training examples of each class, got None.")
    counts = torch.as_tensor(class_counts)
    if counts.shape != (num_classes,):
        raise ValueError(
            f"class_counts must have shape ({num_classes},), one for each class, got {tuple(counts.shape)}."
        )
    if (counts < 0).any() or not (counts > 0).any():
        raise ValueError(f"class_counts must be >= 0 and not all 0, got {counts.tolist()}.")
    return counts


def _checked_num_examples(name: str, num_examples: int | None) -> int:
    if not isinstance(num_examples, int) or num_examples < 1:
        raise ValueError(f"num_examples must be a whole number >= 1 for {name}, got {num_examples!r}.")
    return num_examples
