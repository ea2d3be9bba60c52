"""Real data files for the tests that need them, each data set decoded once a session."""

from __future__ import annotations

import pytest

from data import DATASETS, load_base, load_dataset
from data.dataset import DataError, Dataset


@pytest.fixture(scope="session")
def cifar100() -> Dataset:
    return _base("cifar100")


@pytest.fixture(scope="session")
def fashion_mnist() -> Dataset:
    return _base("fashion_mnist")


@pytest.fixture(scope="session")
def digits() -> Dataset:
    return load_base({"name": "digits"})


@pytest.fixture(scope="session")
def circle() -> Dataset:
    return load_dataset({"name": "circle"}, seed=0)


@pytest.fixture(scope="session", params=sorted(DATASETS))
def dataset_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def every_dataset(request: pytest.FixtureRequest, dataset_name: str) -> Dataset:
    """One data set after the other, with its default settings."""
    dataset: Dataset = request.getfixturevalue(dataset_name)
    return dataset


def _base(name: str) -> Dataset:
    try:
        return load_base({"name": name})
    except DataError as error:
        if "found none" not in str(error):
            raise
        pytest.skip(f"needs the files of {name}: set SETSWEEP_DATA to the folder that holds them")
