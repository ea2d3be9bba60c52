"""What the losses declare, read from their files without running them: they need torch, whose import takes seconds.

A declaration is plain data at the end of a loss's file. Its statements alone are run here; the loss's module, which
they name, is imported when the first loss is built. So whatever asks only what losses there are, and what their
hyperparameters may be, starts at once.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from setsweep.losses.declaration import Hyperparameter, LossDeclaration

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Later:
    """A class of a file that is imported when it is called.

    Args:
        file: the module's full name.
        name: of the class in it.
    """

    file: str
    name: str

    def __call__(self, **arguments: Any) -> nn.Module:
        """An instance."""
        module: nn.Module = getattr(import_module(self.file), self.name)(**arguments)
        return module


def read_declarations(file: str) -> list[LossDeclaration]:
    """The declarations of a loss's file, in its order; their `module` is imported when it is called.

    Args:
        file: the module's full name.

    Raises:
        ValueError: a declaration needs more than numbers, text, hyperparameters and the classes of its file.
    """
    known: dict[str, Any] = {"Hyperparameter": Hyperparameter, "LossDeclaration": LossDeclaration}
    found = []
    for statement in ast.parse(_source(file)).body:
        match statement:
            case ast.ClassDef(name=name):
                known[name] = Later(file, name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not (missing := _names(value) - known.keys()):
                known[name] = eval(compile(ast.Expression(value), file, "eval"), known)  # noqa: S307  # our own file
                if isinstance(known[name], LossDeclaration):
                    found.append(known[name])
            case ast.Assign(value=value) if "LossDeclaration" in _names(value):
                raise ValueError(f"Declarations in {file} must be plain data, got {', '.join(sorted(missing))} in one.")
    return found


def _source(file: str) -> str:
    spec = find_spec(file)
    source = spec.loader.get_source(file) if spec and spec.loader and hasattr(spec.loader, "get_source") else None
    assert source is not None
    return str(source)


def _names(expression: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
