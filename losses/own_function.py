"""A user's own function of scores and labels, as a module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

Make = Callable[..., Any]


class OwnFunction(nn.Module):
    """A function of scores and labels as a module; its tensors go along to another device."""

    def __init__(self, function: Make, arguments: dict[str, Any]) -> None:
        super().__init__()
        self._function = function
        self._arguments = {key: value for key, value in arguments.items() if not isinstance(value, Tensor)}
        self._tensors = [key for key in arguments if key not in self._arguments]
        for key in self._tensors:
            self.register_buffer(key, arguments[key], persistent=False)

    def forward(self, scores: Tensor | tuple[Tensor, Tensor], labels: Tensor, **with_batch: Any) -> Tensor:
        """What the function gives."""
        tensors = {key: getattr(self, key) for key in self._tensors}
        values: Tensor = self._function(scores, labels, **self._arguments, **tensors, **with_batch)
        return values
