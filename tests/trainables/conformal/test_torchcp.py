"""Ours beside TorchCP 1.2.1, to 1e-6, on the same scores.

``tests/golden/make_torchcp.py`` says how its numbers were made.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from setsweep.trainables.conformal.clusters import cluster_numbers, clustered
from setsweep.trainables.conformal.how import Conformal, nonconformity
from setsweep.trainables.conformal.measures import measures
from setsweep.trainables.conformal.quantiles import classwise, marginal
from setsweep.trainables.conformal.sets import ScoreName

GOLDEN = Path(__file__).parents[2] / "golden" / "torchcp.npz"
HOW = Conformal(raps_penalty=0.05, raps_free_ranks=2, saps_weight=0.2)
CLASSES = 12

Arrays = dict[str, Tensor]


@pytest.fixture(scope="module")
def golden() -> Iterator[Arrays]:
    with np.load(GOLDEN) as arrays:
        yield {name: torch.from_numpy(arrays[name]) for name in arrays}


def scored(name: ScoreName, logits: Tensor) -> Tensor:
    prevalence = torch.ones(CLASSES)  # for pas, which TorchCP lacks
    return nonconformity(name, logits.float().softmax(1), HOW, prevalence=prevalence, draws=None)


@pytest.mark.parametrize("name", ["lac", "aps", "raps", "saps"])
def test_scores_of_every_class(golden: Arrays, name: ScoreName) -> None:
    torch.testing.assert_close(scored(name, golden["test"]), golden[f"{name}/scores"].double(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ["lac", "aps", "raps", "saps"])
@pytest.mark.parametrize("alpha", [0.1, 0.05])
@pytest.mark.parametrize("kind", ["marginal", "classwise", "clustered"])
def test_thresholds_sets_and_what_they_are_measured_by(
    golden: Arrays, name: ScoreName, alpha: float, kind: str
) -> None:
    labels, test = golden["cal_labels"], scored(name, golden["test"])
    own = scored(name, golden["cal"]).gather(1, labels.unsqueeze(1)).squeeze(1)
    if kind == "marginal":
        found = marginal(own, CLASSES, 1 - alpha)
    elif kind == "classwise":
        found = classwise(own, labels, CLASSES, 1 - alpha)
    else:
        draws = torch.Generator().manual_seed(7)
        found = clustered(own, labels, CLASSES, 1 - alpha, draws, numbers=(0.3, 3))
    theirs = {what: golden[f"{name}/{alpha}/{kind}/{what}"] for what in ("thresholds", "sizes")}
    torch.testing.assert_close(found, theirs["thresholds"].double().expand(CLASSES), atol=1e-6, rtol=0)
    sets = test <= found
    assert torch.equal(sets.sum(1), theirs["sizes"])
    covered = sets.gather(1, golden["labels"].unsqueeze(1)).squeeze(1)
    ours = measures(covered, sets.sum(1), golden["labels"], num_classes=CLASSES, coverage=1 - alpha)
    for what in ("coverage", "macro_coverage", "set_size", "size_violation"):
        assert ours[what] == pytest.approx(golden[f"{name}/{alpha}/{kind}/{what}"].item(), abs=1e-6), what


@pytest.mark.parametrize("alpha", [0.1, 0.05])
def test_the_number_of_clusters(golden: Arrays, alpha: float) -> None:
    counts = golden["cal_labels"].bincount(minlength=CLASSES)
    assert cluster_numbers(counts, 1 - alpha)[1] == golden[f"{alpha}/clusters"].item()
