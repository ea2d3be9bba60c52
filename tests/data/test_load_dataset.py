"""What runs share of a data set, and what is drawn for each."""

from __future__ import annotations

import pytest

from setsweep.data import base_settings, load_base, load_dataset


def test_runs_share_data_whatever_their_label_noise() -> None:
    noisy = {"name": "cifar100", "label_noise": 0.3, "label_noise_kind": "published"}
    assert base_settings(noisy) == base_settings({"name": "cifar100"})
    assert base_settings({"name": "cifar100", "subset": 10_000}) != base_settings({"name": "cifar100"})


def test_data_drawn_from_the_seed_have_no_shared_part() -> None:
    assert base_settings({"name": "circle"}) is None
    with pytest.raises(ValueError, match=r"shared data must not depend on a run's seed, got 'circle'\."):
        load_base({"name": "circle"})


def test_a_shared_part_for_data_drawn_from_the_seed_is_refused() -> None:
    digits = load_base({"name": "digits"})

    with pytest.raises(ValueError, match=r"base must be None for circle"):
        load_dataset({"name": "circle"}, seed=0, base=digits)
