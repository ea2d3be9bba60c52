"""Sorting networks with soft swaps: how likely one of the values ends at each place.

Petersen, Borgelt, Kuehne, Deussen: Differentiable Sorting Networks for Scalable Sorting and Ranking Supervision, ICML
2021. A network is layers of comparators, each of which puts the larger of two values on one wire and the smaller on the
other. A soft comparator gives both wires a mean of the two values, the larger one's weight being the distribution
function of a Cauchy variable at their difference (Monotonic Differentiable Sorting Networks, ICLR 2022): smooth, and
never saturated. All values' weights on all wires make a doubly stochastic matrix; here one column of it is computed, by
sending it through the network beside the values, so that memory and time are those of the values alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor


def bitonic_network(size: int) -> Tensor:
    """Batcher's bitonic network for that many values, which lie on the last of its wires.

    Args:
        size: number of values, at least 2.

    Returns:
        (layers, 2, wires) float64; wires is the power of two from `size` on. For each layer and wire the least share of
        a swap, 1/2, and its slope, 1/pi where the larger value goes to this wire and -1/pi where it leaves it; both are
        0 where the comparator would touch a wire without a value.
    """
    wires = 1 << (size - 1).bit_length()
    wire = torch.arange(wires)
    layers = []
    for block, distance in _layers(wires):
        upper = (wire & distance) > 0
        falling = (wire & (2 << block)) > 0
        touched = (torch.minimum(wire, wire ^ distance) >= wires - size).double()
        slope = torch.where(upper ^ falling, touched, -touched) / math.pi
        layers.append(torch.stack([touched / 2, slope]))
    return torch.stack(layers)


def soft_places(values: Tensor, first: int, network: Tensor) -> Tensor:
    """How likely one of the values ends at each place, places in ascending order.

    Args:
        values: (batch, wires), 0 on wires without a value.
        first: the wire that the value of interest begins on.
        network: of `bitonic_network`, of the values' dtype.

    Returns:
        (batch, wires), in 0..1, with sum 1.
    """
    place = torch.zeros_like(values)
    place[:, first] = 1.0
    both = torch.stack([values, place])
    for (_, distance), (least, slope) in zip(_layers(values.shape[1]), network.unbind(), strict=True):
        gap = torch.unflatten(both, 2, (-1, 2, distance)).flip(3).flatten(2) - both
        both = torch.addcmul(both, torch.addcmul(least, slope, gap[0].atan()), gap)
    return both[1]


def _layers(wires: int) -> Iterator[tuple[int, int]]:
    """The block of each layer, and the distance between the wires that its comparators touch."""
    for block in range(wires.bit_length() - 1):
        for step in range(block, -1, -1):
            yield block, 1 << step
