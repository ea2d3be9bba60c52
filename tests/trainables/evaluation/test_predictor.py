"""What is kept of a trained model."""

from __future__ import annotations

import json
from typing import Any

import torch

from setsweep.data.dataset import Dataset
from setsweep.trainables.checkpoint import save_checkpoint
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.evaluation.history import History
from setsweep.trainables.evaluation.metrics import Evaluation
from setsweep.trainables.evaluation.predictor import predictor


def test_a_predictor_has_all_that_sets_are_made_of_in_plain_data(
    make_config: Any, digits: Dataset, tmp_path: Any
) -> None:
    config = make_config(data={"name": "digits"}, loss={"name": "avgk"}, k=[2, 3])
    history = History(config, "avg3_accuracy")
    for epoch, accuracy in ((1, 0.4), (2, 0.5)):
        weights = {"weight": torch.tensor(float(epoch))}
        metrics = {"avg3_accuracy": accuracy, "top2_accuracy": 1 - accuracy}
        history.add(epoch, 1.0, Evaluation(metrics, {2: 0.2 / epoch, 3: 0.1 / epoch}), weights.copy)
    save_checkpoint(predictor(history, digits), tmp_path / "model.pt")
    saved = torch.load(tmp_path / "model.pt", weights_only=True)
    assert saved.pop("state") == {"weight": torch.tensor(2.0)}
    assert json.loads(json.dumps(saved)) == {
        "config": config.to_dict(),
        "thresholds": {"2": 0.1, "3": 0.05},
        "probabilities": "sigmoid",
        "num_classes": 10,
        "input_shape": [1, 8, 8],
        "mean": list(digits.mean or ()),
        "std": list(digits.std or ()),
        "class_names": [],
    }
    assert RunConfig.from_dict(saved["config"]).key == config.key
