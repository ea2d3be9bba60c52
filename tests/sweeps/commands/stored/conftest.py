"""A study that ends badly for some seeds, and what is left of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

MODEL = """\
import torch
from torch import nn


class Moody(nn.Module):
    def forward(self, inputs):
        print("the moody network looks at", inputs.shape[0], "images")
        if torch.initial_seed() % 2 and inputs.shape[0] == 53:  # the last batch of an epoch: 1,077 = 2 x 512 + 53
            raise RuntimeError("not today")
        return inputs.flatten(1)


def network(input_shape):
    return Moody(), 64
"""

STUDY = """\
study: moods
data: {name: digits}
model: {name: "moody_model:network"}
training: {epochs: 1, batch_size: 512}
k: 2
arms: {cross_entropy: {}}
confirm: {seeds: 6}
"""


@pytest.fixture
def failed(setsweep: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The folders of the failed runs of a study whose model refuses some seeds, by key."""
    (folder / "moody_model.py").write_text(MODEL)
    (folder / "moods.yaml").write_text(STUDY)
    monkeypatch.syspath_prepend(folder)
    ended = setsweep("run", "moods.yaml", "--in-process")
    assert ended.code == 1, ended.err
    runs = {path.name: path for path in Path("setsweep-results/moods/runs").iterdir()}
    assert 0 < len(runs) < 6, "six seeds are all of one mood once in 32 times, but these are fixed"
    return runs
