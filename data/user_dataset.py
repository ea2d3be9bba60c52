"""A user's own data: a function named ``package.module:function`` in `data.name`.

It is called as ``function(root=..., **settings)`` with the folder of the data files and the other settings of the
`data` section but for `label_noise`, `label_noise_kind` and `calibration`, which are applied to what it gives: a
`data.dataset.Dataset`.

    def two_moons(*, root, sigma=0.1):
        return Dataset(train=Split(points, labels), val=..., test=..., num_classes=2)

Nothing is imported until the data are loaded. Settings are plain data, taken as they stand. A run's key knows the name
and the settings but not the code: where the code changes, change one of them, or results of the old code are taken for
results of the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from setsweep.data.declaration import OF_RUN, DatasetDeclaration, DataSetting
from setsweep.data.files import Root, data_root
from setsweep.data.user_function import own_function

if TYPE_CHECKING:
    from setsweep.data.dataset import Dataset


def own_declaration(settings: Mapping[str, Any]) -> DatasetDeclaration:
    """A row of the table of data sets for a user's function; its settings are those given, taken as they stand."""
    name = settings["name"]
    own = {key: DataSetting(default=value) for key, value in settings.items() if key not in ("name", *OF_RUN)}

    def load(*, root: Root, download: bool, **given: Any) -> Dataset:
        del download
        return load_own(name, root=root, **given)

    return DatasetDeclaration(name=name, about="Your own data.", source=name, settings={**OF_RUN, **own}, load=load)


def load_own(name: str, *, root: Root, **settings: Any) -> Dataset:
    """What the user's function gives, checked.

    Raises:
        ValueError: no such function, it does not take these settings, or what it gives is no data set.
    """
    from setsweep.data.dataset_check import check_dataset

    dataset = own_function(name, "data", (), {"root": data_root(root), **settings})()
    return check_dataset(dataset, source=name)
