from __future__ import annotations

import torch

from setsweep.data.resident import on_device

META = torch.device("meta")  # a device that every machine has


def test_a_tensor_that_is_there_is_not_copied() -> None:
    tensor = torch.arange(5)

    assert on_device(tensor, torch.device("cpu")) is tensor


def test_two_users_share_one_copy_and_views_have_their_own() -> None:
    tensor = torch.arange(6)

    moved = on_device(tensor, META)

    assert on_device(tensor, META) is moved
    assert on_device(tensor[:3], META) is not moved
    assert on_device(tensor.view(2, 3), META).shape == (2, 3)
    assert on_device(torch.arange(6), META) is not moved
