"""A loss of a user's own, in the form of the table's.

It is a function of scores and labels that gives one value per example, or an ``nn.Module`` that is made first. Its
arguments with a default are its hyperparameters; what else it wants, it takes by name: `k`, `num_classes`,
`class_counts`, `generator`, and `indices` with every batch (with `num_examples` where it is made).

    @declares(ranges={"gamma": {"low": 0.0, "search": {"uniform": (0.5, 5.0)}}})
    def sharpened(scores, labels, *, gamma: float = 2.0):
        likely = scores.log_softmax(1).gather(1, labels.unsqueeze(1)).squeeze(1)
        return -(-likely.expm1()).clamp_min(1e-30).pow(gamma) * likely
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from setsweep.losses.declaration import LossDeclaration
from setsweep.losses.signature import Signature, declares, read_signature

if TYPE_CHECKING:
    from torch import nn

__all__ = ["declaration_of", "declares", "own_declaration"]

Make = Callable[..., Any]


def own_declaration(name: str, signature: Signature, find: Callable[[], Make]) -> LossDeclaration:
    """A row of the table for a user's own loss.

    Args:
        name: its name in studies, for messages too.
        signature: as its text says.
        find: gives the function or the class; called when the loss is made.
    """
    takes = signature.takes
    return LossDeclaration(
        name=name,
        module=partial(_made, name, signature, find),
        hyperparameters=signature.hyperparameters,
        needs_k="k" in takes,
        needs_class_counts="class_counts" in takes,
        needs_indices="indices" in takes or "num_examples" in takes,
        needs_generator="generator" in takes,
        takes_batches="batches" in takes,
        apart="batches" not in takes,
        **signature.said,
    )


def declaration_of(loss: Make) -> LossDeclaration:
    """The declaration of a function or a class at hand, as a study that names it has it.

    Raises:
        ValueError: its text can't be found, or says no loss.
    """
    name = f"{loss.__module__}:{loss.__name__}"
    try:
        signature = read_signature(textwrap.dedent(inspect.getsource(loss)), loss.__name__)
    except OSError:
        raise ValueError(f"{name} must be written in a file, whose text is read, got none.") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return own_declaration(name, signature, lambda: loss)


def _made(name: str, signature: Signature, find: Callable[[], Make], **arguments: Any) -> nn.Module:
    from torch import nn  # whose import takes seconds, and which reading a study does not need

    from setsweep.losses.own_function import OwnFunction

    found = find()
    wanted = {key: arguments[key] for key in (*signature.takes, *signature.hyperparameters) if key in arguments}
    if not signature.is_class:
        return OwnFunction(found, wanted)
    made = found(**wanted)
    if not isinstance(made, nn.Module):
        raise ValueError(f"{name} must be a function or an nn.Module, got a {type(made).__name__}.")  # noqa: TRY004
    if learnt := [key for key, _ in made.named_parameters()]:
        raise ValueError(f"{name} must have no weights that learn, got {learnt[0]}.")
    return made
