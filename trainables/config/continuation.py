"""What of a configuration must stay as it is when a run goes on from a checkpoint under another one.

A search may change the course of a run: its learning rate, its batch size, a hyperparameter of its loss. What may not
change is what the state in the checkpoint is made of, and what the numbers measured so far are numbers of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.settings.problems import Problems


def check_continuation(before: Mapping[str, Any], after: RunConfig) -> None:
    """Check that a run can go on from where another configuration has brought it.

    The same must be data, model, the loss but for its hyperparameters, `k`, `seed`, `test`, `training.optimizer.name`,
    `training.keep`, and whether weights are averaged (`training.ema`).

    Args:
        before: the configuration that the checkpoint was made with, as plain data.
        after: the one to go on with.

    Raises:
        ConfigError: everything that must be the same and is not.
    """
    kept, given = _lasting(before), _lasting(after.to_dict())
    problems = Problems()
    for path, value in given.items():
        if path in kept and value != kept[path]:
            expected = kept[path] if isinstance(kept[path], str) else repr(kept[path])
            problems.add(path, f"must be {expected}, as in the checkpoint, got {value!r}.")
    problems.raise_any()


def _lasting(plain: Mapping[str, Any]) -> dict[str, Any]:
    """What must stay, by dotted path; settings that only another data set or model has are no news beside its name."""
    named = {f"{section}.{name}": value for section in ("data", "model") for name, value in plain[section].items()}
    training = plain["training"]
    return {
        **named,
        "loss.name": plain["loss"]["name"],
        "training.optimizer.name": training["optimizer"]["name"],
        "training.keep": training["keep"],
        "training.ema": "> 0" if training["ema"] else "0",
        **{name: plain[name] for name in ("k", "seed", "test")},
    }
