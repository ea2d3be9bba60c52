"""What holds for every loss, as checks that its author can run; a sweep runs them on a user's own before it trains.

In a test of one's own:

    @pytest.mark.parametrize("check", CHECKS)
    def test_my_loss_keeps_the_contract(check):
        check(case_of(my_loss, k=3))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from setsweep.losses import LOSSES, build_loss
from setsweep.losses.declaration import LossDeclaration
from setsweep.losses.own import declaration_of

COUNTS = (1, 5, 20, 0, 100, 3, 7)  # training examples of the classes, in turn; one class has none
SEED = 4
LARGE = 100.0  # scores that training does meet


@dataclass
class Case:
    """A loss and what it takes.

    Args:
        declaration: of the loss.
        loss: as it is built.
        scores: (batch, classes) of each head.
        labels: (batch,).
        extra: what goes along with a batch.
        generator: where the loss draws noise; put back before every call, so that it draws the same.
    """

    declaration: LossDeclaration
    loss: nn.Module
    scores: tuple[Tensor, ...]
    labels: Tensor
    extra: dict[str, Tensor] = field(default_factory=dict)
    generator: torch.Generator | None = None

    def values(self, *scores: Tensor, rows: Tensor | slice = slice(None), **changes: Any) -> Tensor:
        """The values of some rows, of the case's scores or others."""
        if self.generator is not None:
            self.generator.manual_seed(SEED)
        given = [one[rows] for one in (scores or self.scores)]
        extra = {name: value[rows] for name, value in self.extra.items()} | changes
        values: Tensor = self.loss(tuple(given) if len(given) > 1 else given[0], self.labels[rows], **extra)
        return values

    def rule(self, rule: str) -> ValueError:
        """An error with the loss's name before the rule."""
        return ValueError(f"{self.declaration.name} {rule}")


def case_of(
    loss: str | LossDeclaration | Callable[..., Any],
    *,
    k: int = 3,
    classes: int = 7,
    batch: int = 5,
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
    **hyperparameters: Any,
) -> Case:
    """A small batch for a loss.

    Args:
        loss: a name of the table, a declaration, or a function or class of one's own.
        k: set size.
        classes, batch: columns and rows of the scores.
        dtype, device: of the scores.
        hyperparameters: that are not to have their defaults.
    """
    declaration = LOSSES[loss] if isinstance(loss, str) else loss
    if not isinstance(declaration, LossDeclaration):
        declaration = declaration_of(declaration)
    counts = torch.tensor([COUNTS[label % len(COUNTS)] for label in range(classes)])
    noise = torch.Generator(device) if declaration.needs_generator else None
    built = build_loss(
        declaration,
        num_classes=classes,
        k=k,
        class_counts=counts,
        num_examples=batch,
        generator=noise,
        **hyperparameters,
    )
    generator = torch.Generator().manual_seed(SEED)
    heads = 2 if declaration.head == "two_head" else 1
    scores = [torch.randn(batch, classes, generator=generator, dtype=torch.float64) for _ in range(heads)]
    labels = torch.randint(classes, (batch,), generator=generator)
    return Case(
        declaration,
        built.to(device),
        tuple(one.to(device, dtype) for one in scores),
        labels.to(device),
        {"indices": torch.arange(batch, device=device)} if declaration.needs_indices else {},
        noise,
    )


def one_value_per_example(case: Case) -> None:
    """Values have the shape (batch,), a batch of one example included. Raises ValueError."""
    for rows in (slice(None), slice(0, 1)):
        values = case.values(rows=rows)
        expected = tuple(case.labels[rows].shape)
        if not isinstance(values, Tensor) or tuple(values.shape) != expected:
            got = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
            raise case.rule(f"must give one value per example, {expected}, got {got}.")


def precision_of_the_scores(case: Case) -> None:
    """Scores of single and of double precision give values of theirs, which agree. Raises ValueError."""
    results = {}
    for dtype in (torch.float32, torch.float64):
        values = case.values(*(one.to(dtype) for one in case.scores))
        if values.dtype != dtype:
            raise case.rule(f"must give values of the precision of the scores, {dtype}, got {values.dtype}.")
        results[dtype] = values
    if case.generator is not None:
        return  # whose noise of another precision is another
    if not torch.allclose(results[torch.float32].double(), results[torch.float64], rtol=1e-3, atol=1e-4):
        got = " and ".join(f"{values.tolist()}" for values in results.values())
        raise case.rule(f"must give the same in single and double precision, got {got}.")


def finite(case: Case) -> None:
    """Values and gradients are finite in single precision, of scores of 100 and -100 as well. Raises ValueError."""
    alternating = LARGE * (1 - 2 * (torch.arange(case.scores[0].shape[1]) % 2))
    large = alternating.to(case.scores[0]).expand_as(case.scores[0])
    for scores in (case.scores, tuple(large.clone() for _ in case.scores)):
        leaves = [one.detach().clone().float().requires_grad_() for one in scores]
        values = case.values(*leaves)
        most = max(float(one.abs().max()) for one in scores)
        if not values.isfinite().all():
            raise case.rule(f"must give finite values for scores up to {most:.3g}, got {values.tolist()}.")
        if values.requires_grad:
            torch.autograd.backward(values.sum())
            if any(one.grad is not None and not one.grad.isfinite().all() for one in leaves):
                raise case.rule(f"must give finite gradients for scores up to {most:.3g}, got inf or nan.")


def gradient(case: Case) -> None:
    """The gradient agrees with finite differences, unless the loss declares that it stops some. Raises ValueError."""
    leaves = [one.detach().clone().double().requires_grad_() for one in case.scores]
    if not case.values(*leaves).requires_grad:
        raise case.rule("must depend on the scores by operations that have a gradient, got values without one.")
    if case.declaration.stops_gradient:
        return
    if not torch.autograd.gradcheck(case.values, leaves, raise_exception=False):
        rule = "must have the gradient that finite differences give, or declare stops_gradient=True, got another one."
        raise case.rule(rule)


def order_of_the_batch(case: Case) -> None:
    """Examples in another order have the same values, but for noise, which goes by place. Raises ValueError."""
    if case.generator is not None and "noise" not in case.extra:
        return
    order = torch.arange(len(case.labels)).roll(2)
    together, moved = case.values()[order], case.values(rows=order)
    if not torch.allclose(moved, together, rtol=1e-9, atol=1e-12):
        raise case.rule(f"must give each example its value in any order of the batch, got {moved} for {together}.")


def arguments_unchanged(case: Case) -> None:
    """Scores and labels are as they were before. Raises ValueError."""
    given = (*case.scores, case.labels, *case.extra.values())
    before = [one.clone() for one in given]
    case.values()
    if not all(map(torch.equal, before, given)):
        raise case.rule("must leave scores and labels as they are, got others after the call.")


CHECKS: tuple[Callable[[Case], None], ...] = (
    one_value_per_example,
    arguments_unchanged,
    precision_of_the_scores,
    finite,
    gradient,
    order_of_the_batch,
)


def check_contract(
    loss: LossDeclaration | Callable[..., Any], *, k: int = 3, classes: int = 7, **hyperparameters: Any
) -> None:
    """All checks, on a small batch.

    Raises:
        ValueError: what the loss breaks first; what it raises itself, with its name.
    """
    for check in CHECKS:
        case = case_of(loss, k=k, classes=classes, **hyperparameters)
        try:
            check(case)
        except ValueError:
            raise
        except Exception as error:  # a function of the user's can raise anything
            raise case.rule(f"must take scores and labels of any size, got {type(error).__name__}: {error}") from error
