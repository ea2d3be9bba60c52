from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import pad

from setsweep.losses.kernels.sorting_network import bitonic_network, soft_places


def places(values: Tensor) -> Tensor:
    """P[value, place], each row from a network run of its own; (size, size)."""
    size = len(values)
    network = bitonic_network(size)
    first = network.shape[2] - size
    wires = pad(values.unsqueeze(0), (first, 0))
    return torch.cat([soft_places(wires, first + number, network) for number in range(size)])[:, first:]


@pytest.mark.parametrize("size", range(2, 17))
def test_steep_swaps_sort_every_input(size: int) -> None:
    # By the 0-1 principle a network that sorts all inputs of two values sorts everything; at a steepness of 1e12 the
    # swaps are hard to 1e-12. Above 10 values, 500 inputs each (seed 0) in place of all 2^size.
    bits = torch.tensor(list(itertools.product([0.0, 1.0], repeat=size)), dtype=torch.float64)
    if size > 10:
        bits = bits[torch.randperm(len(bits), generator=torch.Generator().manual_seed(0))[:500]]
    network = bitonic_network(size)
    first = network.shape[2] - size
    for place in range(size):
        ones = bits[:, place] == 1
        ends = soft_places(pad(1e12 * bits, (first, 0)), first + place, network)[:, first:]
        upper = torch.arange(size) >= (size - bits.sum(1, keepdim=True))
        torch.testing.assert_close((ends * upper).sum(1), ones.double(), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("size", "layers", "wires"), [(2, 1, 2), (3, 3, 4), (16, 10, 16), (17, 15, 32)])
def test_depth_and_width_are_those_of_the_next_power_of_two(size: int, layers: int, wires: int) -> None:
    assert bitonic_network(size).shape == (layers, 2, wires)


@pytest.mark.parametrize("size", [2, 5, 8, 13, 16])
def test_the_places_of_all_values_are_a_doubly_stochastic_matrix(size: int) -> None:
    matrix = places(torch.randn(size, generator=torch.Generator().manual_seed(2), dtype=torch.float64))
    assert (matrix >= 0).all()
    ones = torch.ones(size, dtype=torch.float64)
    torch.testing.assert_close(matrix.sum(0), ones)
    torch.testing.assert_close(matrix.sum(1), ones)


def test_two_values_swap_with_cauchys_distribution_of_their_difference() -> None:
    # F(1) = 1/2 + atan(1) / pi = 3/4
    matrix = places(torch.tensor([1.0, 0.0], dtype=torch.float64))
    torch.testing.assert_close(matrix, torch.tensor([[0.25, 0.75], [0.75, 0.25]], dtype=torch.float64))
    assert math.isclose(0.5 + math.atan(1) / math.pi, 0.75)


def test_equal_values_are_equally_likely_at_every_place() -> None:
    torch.testing.assert_close(places(torch.zeros(8, dtype=torch.float64)), torch.full((8, 8), 0.125).double())


def test_a_nan_reaches_every_place() -> None:
    values = torch.tensor([0.0, torch.nan, 1.0, 2.0], dtype=torch.float64)
    assert places(values).isnan().any(1).all()
