"""Data sets: a table of what there is, and from the settings of a run to its tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from setsweep.data import (
    cifar100,
    cifar100_lt,
    circle,
    digits,
    fashion_mnist,
    image_folder,
    imagenet,
    imagenet_lt,
    plantnet300k,
)
from setsweep.data.declaration import CALIBRATION, LABEL_NOISE, OF_RUN, SPLIT_OF_RUN, DatasetDeclaration
from setsweep.data.files import Root
from setsweep.data.user_dataset import own_declaration
from setsweep.data.user_function import is_own

if TYPE_CHECKING:
    from setsweep.data.dataset import Dataset

DATASETS: dict[str, DatasetDeclaration] = {
    module.DECLARATION.name: module.DECLARATION
    for module in (
        circle,
        digits,
        fashion_mnist,
        cifar100,
        cifar100_lt,
        plantnet300k,
        imagenet,
        imagenet_lt,
        image_folder,
    )
}


def declaration_of(settings: Mapping[str, Any]) -> DatasetDeclaration:
    """What is declared of the data set that the settings name: a row of the table, or a user's own data.

    A user's own data, `package.module:function`, have the settings that are given; nothing is imported.

    Raises:
        ValueError: unknown data set.
    """
    name = settings.get("name")
    if is_own(name):
        return own_declaration(settings)
    if name not in DATASETS:
        raise ValueError(f"data.name must be one of {', '.join(DATASETS)}, got {name!r}.")
    return DATASETS[name]


def data_of_run(settings: Mapping[str, Any], *, seed: int) -> Mapping[str, Any]:
    """The settings of one run's data: where the split is to be the run's own, with its seed as that of the split."""
    return {**settings, "split_seed": seed} if settings.get("split_seed") == SPLIT_OF_RUN else settings


def base_settings(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings that decide `load_base`, defaults filled in: equal ones mean that runs can share one copy.

    Returns:
        All but those of `OF_RUN`; None for data that are drawn from each run's seed.

    Raises:
        ValueError: unknown data set.
    """
    declaration = declaration_of(settings)
    if declaration.drawn_per_seed:
        return None
    return {key: value for key, value in _complete(declaration, settings).items() if key not in OF_RUN}


def load_base(settings: Mapping[str, Any], *, root: Root = None, download: bool = False) -> Dataset:
    """What all runs on a data set share: its images, decoded once, and its split; labels as published.

    Args:
        settings: name and settings (checked by `trainables.config.sections`), a split of its own drawn for each run
            replaced by that of one (`data_of_run`); those of `OF_RUN` are not looked at.
        root: folder of the data files; None: SETSWEEP_DATA, else ~/.cache/setsweep.
        download: fetch files that are missing or damaged.

    Raises:
        ValueError: unknown data set; or the data are drawn from each run's seed.
        data.files.DataError: a file is missing or damaged.
    """
    base = base_settings(settings)
    if base is None:
        raise ValueError(f"shared data must not depend on a run's seed, got {settings['name']!r}.")
    declaration = declaration_of(base)
    del base["name"]
    return declaration.load(root=root, download=download, **base)


def load_dataset(
    settings: Mapping[str, Any], *, seed: int, root: Root = None, download: bool = False, base: Dataset | None = None
) -> Dataset:
    """The data set of one run: shared data with the label noise and the calibration split of its seed, or data drawn
    wholly from its seed.

    Args:
        settings: name and settings, see `load_base`; what is left out has its default.
        seed: of the run.
        root: folder of the data files, see `load_base`.
        download: fetch files that are missing or damaged.
        base: what `load_base` gives for the same `base_settings` (of `data_of_run`), shared and left as it is; None: it
            is loaded.

    Raises:
        ValueError: unknown data set; a `base` for data that are drawn from the seed; or a calibration split that has or
            leaves no example.
        data.files.DataError: a file is missing or damaged.
    """
    from setsweep.data.calibration import with_calibration
    from setsweep.data.label_noise import with_label_noise

    settings = data_of_run(settings, seed=seed)
    declaration = declaration_of(settings)
    complete = _complete(declaration, settings)
    probability, kind = (complete.pop(name) for name in LABEL_NOISE)
    (share,) = (complete.pop(name) for name in CALIBRATION)
    del complete["name"]
    if not declaration.drawn_per_seed:
        dataset = load_base(settings, root=root, download=download) if base is None else base
    elif base is None:
        dataset = declaration.load(seed=seed, **complete)
    else:
        raise ValueError(f"base must be None for {declaration.name}, whose data are drawn from the seed.")
    return with_calibration(with_label_noise(dataset, probability, seed=seed, kind=kind), share, seed=seed)


def _complete(declaration: DatasetDeclaration, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": declaration.name, **declaration.defaults(), **settings}
