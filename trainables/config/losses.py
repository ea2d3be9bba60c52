"""The declaration of the loss that a configuration names: a row of the table, or a user's own.

A user's own loss, ``package.module:function``, is declared by its text (see `losses.own`), which is found as Python
would find its module and read without running it. A run's key knows the name, the hyperparameters and the revision that
it declares, but not the code: where the code changes, raise the revision, or results of the old code are taken for
results of the new one.
"""

from __future__ import annotations

import sys
from functools import cache, partial

from setsweep.data.user_function import FORM, find_function, is_own, source_of
from setsweep.losses import LOSSES
from setsweep.losses.declaration import LossDeclaration
from setsweep.losses.own import own_declaration
from setsweep.losses.signature import read_signature
from setsweep.losses.values import unknown


def loss_declaration(name: object) -> LossDeclaration:
    """What is declared of the loss of that name.

    Raises:
        ValueError: no such loss; a user's own whose text can't be found or says no loss.
    """
    if is_own(name):
        return _own(str(name), tuple(sys.path))
    if not isinstance(name, str) or name not in LOSSES:
        raise ValueError(unknown("loss", name, LOSSES))
    return LOSSES[name]


def is_loss(name: object) -> bool:
    """Whether a loss of that name can be had."""
    try:
        loss_declaration(name)
    except ValueError:
        return False
    return True


@cache
def _own(name: str, places: tuple[str, ...]) -> LossDeclaration:
    """A user's own; read once for every list of places that modules are looked for in."""
    del places
    if not FORM.fullmatch(name):
        raise ValueError(f"must be a loss's name or package.module:function, got {name!r}.")
    module, _, function = name.partition(":")
    text = source_of(module)
    if text is None:
        raise ValueError(f"must be in a module in this folder or on PYTHONPATH, got {name!r}; {module} is in neither.")
    try:
        signature = read_signature(text, function)
    except ValueError as error:
        raise ValueError(f"must be a loss that can be read from {module}, got {name!r}: {error}") from None
    return own_declaration(name, signature, partial(find_function, name, "loss"))
