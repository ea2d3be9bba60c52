"""Reads the `training` block of a study: fixed values, searched values, and what scales the learning rate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from setsweep.sweeps.study.space import Space, is_space, read_space
from setsweep.sweeps.study.text.findings import Findings, Section
from setsweep.sweeps.study.text.hints import unknown_field
from setsweep.sweeps.study.text.source import Source
from setsweep.trainables.config.presets import PRESETS, check_preset, settings_added
from setsweep.trainables.config.run_config import SECTIONS, TRAINING
from setsweep.trainables.config.training import PRESET, check_value, default_training, flatten
from setsweep.trainables.settings.rules import flag
from setsweep.trainables.settings.setting import Setting

KEEP_LR = "keep_lr_per_example"
BESIDES = (KEEP_LR, PRESET)  # what `training` may hold besides settings
KEEP_LR_PER_EXAMPLE = Setting(flag(), False, "scale the learning rate with the batch size")


@dataclass
class TrainingBlock:
    """The training of a study, by dotted path below `training`.

    Args:
        fixed: the values given.
        searched: the search spaces given.
    """

    fixed: dict[str, Any] = field(default_factory=dict)
    searched: dict[str, Space] = field(default_factory=dict)

    def shared_spaces(self) -> dict[str, Space]:
        """What is searched, by path in a run's configuration."""
        return {f"training.{path}": space for path, space in self.searched.items()}


def read_training(findings: Findings) -> TrainingBlock:
    """The block as the study gives it; defaults are left out."""
    block = TrainingBlock()
    _read_level(findings, (), block)
    keep = Section(findings, ("training",)).read(KEEP_LR, KEEP_LR_PER_EXAMPLE)
    referred = block.fixed.get("reference_batch_size") is not None or "reference_batch_size" in block.searched
    if keep and "reference_batch_size" not in block.fixed:
        _keep_lr_per_example(findings, block)
    elif referred and not keep and findings.source.has(("training", KEEP_LR)):
        rule = (
            "must be true or left out with a training.reference_batch_size, which scales the learning rate, got false."
        )
        findings.add(("training", KEEP_LR), rule)
    return block


def read_training_space(path: str, value: Any, *, default: Any) -> Space:
    """The search space of a training value. Raises ValueError: the rule that its spelling breaks."""
    return read_space(value, TRAINING[path], default=default, default_in_range=True)


def fill_in_preset(source: Source) -> str | None:
    """Put what the preset of a study's training says where the study says nothing.

    A learning rate that is kept per example is kept from the batch size of whichever gave it, preset or study.

    Returns:
        How the preset was changed to fit, for the user; None where it was not. What is wrong is told when it is read.
    """
    training: Any = source.values.get("training")
    name = training.get(PRESET) if isinstance(training, dict) else None
    if not isinstance(name, str) or name not in PRESETS:
        return None
    given, preset = flatten(training), PRESETS[name]
    added = settings_added(preset, given)
    keep_lr, batch_size = training.get(KEEP_LR) is True, preset.settings["batch_size"]
    if keep_lr and "reference_batch_size" not in given and "optimizer.lr" in added and batch_size != "full":
        added["reference_batch_size"] = batch_size
    for path, value in added.items():
        source.fill_in(("training", *path.split(".")), value, source.where(("training", PRESET)))
    if "milestones" not in added or added["milestones"] == preset.settings["milestones"]:
        return None
    now, before = list(added["milestones"]), list(preset.settings["milestones"])
    return (
        f"training.milestones: {now} instead of {before} of preset {name}, as training.epochs is {given['epochs']} "
        f"instead of {preset.settings['epochs']}."
    )


def fit_milestones(source: Source) -> str | None:
    """Leave out the milestones that an override of the epochs puts beyond the end.

    ``--set training.epochs=3`` is how a study is tried out; without this it would need a second override.

    Returns:
        What was left out, for the user; None where nothing was.
    """
    epochs_path, milestones_path = ("training", "epochs"), ("training", "milestones")
    if not (source.has(epochs_path) and source.has(milestones_path)):
        return None
    if source.where(epochs_path).line or not source.where(milestones_path).line:
        return None
    training = source.values["training"]
    epochs, milestones = training["epochs"], training["milestones"]
    if type(epochs) is not int or not isinstance(milestones, list) or any(type(each) is not int for each in milestones):
        return None  # whatever is wrong is told when they are read
    late = [each for each in milestones if each >= epochs]
    if not late:
        return None
    training["milestones"] = [each for each in milestones if each < epochs]
    return f"training.milestones: {late} left out, as they must be below training.epochs = {epochs}."


def _read_level(findings: Findings, keys: tuple[str, ...], block: TrainingBlock) -> None:
    place = ("training", *keys)
    for key, value in Section(findings, place).values.items():
        path = ".".join((*keys, key))
        if path in SECTIONS:
            _read_level(findings, (path,), block)
        elif path == PRESET and value is not None:
            findings.checked((*place, key), check_preset, value)
        elif "." in key or path not in TRAINING:
            if path not in BESIDES:
                findings.add((*place, key), unknown_field("setting", path, [*TRAINING, *BESIDES]))
        elif is_space(value):
            read = partial(read_training_space, path, default=TRAINING[path].default)
            space = findings.checked((*place, key), read, value)
            if space:
                block.searched[path] = space
        else:
            _read_fixed(findings, (*place, key), path, value, block)


def _read_fixed(findings: Findings, place: tuple[str, ...], path: str, value: Any, block: TrainingBlock) -> None:
    try:
        block.fixed[path] = check_value(path, value)
    except ValueError as error:
        findings.add(place, str(error))


def _keep_lr_per_example(findings: Findings, block: TrainingBlock) -> None:
    batch_size = block.fixed.get("batch_size", default_training()["batch_size"])
    if "batch_size" in block.searched:
        rule = "must have a training.reference_batch_size where training.batch_size is searched, got none."
    elif batch_size == "full":
        rule = "must have a training.reference_batch_size where training.batch_size is full, got none."
    else:
        block.fixed["reference_batch_size"] = batch_size
        return
    findings.add(("training", KEEP_LR), rule)
