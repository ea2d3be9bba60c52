"""Whether a seed group can learn as one stacked model: settled by a trial of the model."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.learners.batched_mlp import batched_mlp
from setsweep.trainables.learners.initial import initial_model
from setsweep.trainables.learners.model_stack import StackedNetwork, stack_models
from setsweep.trainables.models.heads import Scores

EXAMPLES = 4
TOLERANCE = 1e-2  # of the largest score: far above rounding, far below what another computation would give


def why_not_stackable(config: RunConfig, dataset: Dataset, device: torch.device) -> str | None:
    """The reason why seeds of this configuration can't be stacked, or None: they can.

    Models that `trainables.learners.batched_mlp` computes can. Others are tried: two of them, stacked, must give the
    scores that each gives by itself, in training and in evaluation. Dropout fails here: its draws would be others.

    Args:
        config: complete; of any of the seeds.
        dataset: its data.
        device: where it would learn.
    """
    if config.training.compile:
        return "training.compile is for one model at a time."
    model = initial_model(config, dataset, device)
    if batched_mlp(model) is not None:
        return None
    other = initial_model(replace(config, seed=config.seed ^ 1), dataset, device)
    inputs = torch.randn(2, EXAMPLES, *dataset.input_shape, generator=torch.Generator().manual_seed(0)).to(device)
    try:
        agreed = _agree([model, other], inputs)
    except Exception as error:  # noqa: BLE001 - a model of one's own may raise anything
        return f"the model does not run under torch.func.vmap: {error}"
    return None if agreed else "the model's scores under torch.func.vmap are not those that it gives by itself."


@torch.no_grad()
def _agree(models: list[nn.Module], inputs: Tensor) -> bool:
    """Whether stacked models give the scores of the models themselves."""
    stack = stack_models(models)
    network = StackedNetwork(stack)
    for training in (True, False):
        stack.train(training)
        stacked = _heads(network(inputs))
        alone = [_heads(model.train(training)(each)) for model, each in zip(models, inputs, strict=True)]
        for together, apart in zip(stacked, zip(*alone, strict=True), strict=True):
            expected = torch.stack(apart)
            if not torch.allclose(together, expected, rtol=0.0, atol=TOLERANCE * float(expected.abs().max())):
                return False
    return True


def _heads(scores: Scores) -> tuple[Tensor, ...]:
    return scores if isinstance(scores, tuple) else (scores,)
