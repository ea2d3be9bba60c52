"""Makes torchcp.npz: what TorchCP 1.2.1 gives for random scores, to hold ours to.

TorchCP can't be among the test extras: it asks for transformers, torch_geometric and torchsort, which has to be
compiled. What is compared needs nothing of them, so they are replaced by empty modules here. In an environment of its
own:

    pip install torch numpy scikit-learn tqdm && pip install --no-deps torchcp==1.2.1
    python tests/golden/make_torchcp.py
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest.mock import MagicMock

NOT_NEEDED = ("transformers", "torch_geometric", "torchsort")


class Empty(MetaPathFinder, Loader):
    """Finds a module of any name below those, with nothing in it."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in NOT_NEEDED else None

    def create_module(self, spec: ModuleSpec) -> MagicMock:
        return MagicMock(__spec__=spec, __path__=[])

    def exec_module(self, module: object) -> None:
        pass


sys.meta_path.insert(0, Empty())

import numpy as np  # noqa: E402 - after the modules that TorchCP looks for
import torch  # noqa: E402
from torchcp.classification.predictor import (  # type: ignore[import-not-found]  # noqa: E402
    ClassConditionalPredictor,
    ClusteredPredictor,
    SplitPredictor,
)
from torchcp.classification.score import APS, LAC, RAPS, SAPS  # type: ignore[import-not-found]  # noqa: E402
from torchcp.classification.utils.metrics import (  # type: ignore[import-not-found]  # noqa: E402
    SSCV,
    average_size,
    coverage_rate,
)


class ConsistentSAPS(SAPS):  # type: ignore[misc]  # TorchCP has no types
    """Labels have the score that their class has among all classes; TorchCP gives 0 to those of first rank, without
    draws.
    """

    def _calculate_single_label(self, probs: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return self._calculate_all_label(probs.clone()).gather(1, label.unsqueeze(1)).squeeze(1)


SCORES = {
    "lac": LAC(),
    "aps": APS(randomized=False),
    "raps": RAPS(randomized=False, penalty=0.05, kreg=2),
    "saps": ConsistentSAPS(randomized=False, weight=0.2),
}
ALPHAS = (0.1, 0.05)


def examples(count: int, classes: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores whose softmax says how probable each label is, in half precision exactly; the rarest class is half as
    frequent as the commonest.
    """
    prior = torch.linspace(1, 0.5, classes)
    labels = torch.multinomial(prior, count, replacement=True, generator=generator)
    logits = torch.randn(count, classes, generator=generator)
    logits[torch.arange(count), labels] += 1 + 2 * (labels % 3)
    return logits.half().float(), labels


def made() -> dict[str, torch.Tensor | float]:
    """All arrays, by name."""
    generator = torch.Generator().manual_seed(20261122)
    (cal, cal_labels), (test, labels) = (examples(count, 12, generator) for count in (2400, 300))
    found: dict[str, torch.Tensor | float] = {
        "cal": cal.half(), "cal_labels": cal_labels, "test": test.half(), "labels": labels
    }  # fmt: skip
    for name, score in SCORES.items():
        found[f"{name}/scores"] = score(test)
        for alpha in ALPHAS:
            predictors = {
                "marginal": SplitPredictor(score, alpha=alpha),
                "classwise": ClassConditionalPredictor(score, alpha=alpha),
                "clustered": ClusteredPredictor(score, alpha=alpha, ratio_clustering=0.3, num_clusters=3),
            }
            for kind, predictor in predictors.items():
                torch.manual_seed(7)  # of the examples that decide the clusters
                predictor.calculate_threshold(cal, cal_labels)
                sets = predictor.predict_with_logits(test).bool()
                key = f"{name}/{alpha}/{kind}"
                found[f"{key}/thresholds"] = torch.as_tensor(predictor.q_hat)
                found[f"{key}/sizes"] = sets.sum(1)
                found[f"{key}/coverage"] = coverage_rate(sets, labels)
                found[f"{key}/macro_coverage"] = coverage_rate(sets, labels, "macro", 12)
                found[f"{key}/set_size"] = average_size(sets)
                found[f"{key}/size_violation"] = SSCV(sets, labels, alpha)
            automatic = ClusteredPredictor(score, alpha=alpha)
            automatic.calculate_threshold(cal, cal_labels)
            found[f"{alpha}/clusters"] = float(automatic.num_clusters)
    return found


if __name__ == "__main__":
    np.savez_compressed(Path(__file__).parent / "torchcp.npz", **{k: np.asarray(v) for k, v in made().items()})
