"""The names of the repository's folders are everybody's: a user's own files of these names are not in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

OWN = {
    "data.py": "def two_classes(*, root):\n"
    "    import torch\n"
    "    from setsweep.data.dataset import Dataset, Split\n"
    "    split = Split(torch.eye(2).repeat(8, 1), torch.tensor([0, 1] * 8))\n"
    "    return Dataset(split, split, split, num_classes=2)\n",
    "losses.py": "raise RuntimeError('these losses are not meant')\n",
    "trainables.py": "raise RuntimeError('these trainables are not meant')\n",
    "sweeps.py": "raise RuntimeError('these sweeps are not meant')\n",
}
STUDY = """\
study: mine
data: {name: "data:two_classes"}
model: {name: linear}
training: {epochs: 2, batch_size: 16}
k: 1
arms: [cross_entropy]
confirm: {seeds: 2}
"""
RUN = """\
data: {name: "data:two_classes"}
model: {name: linear}
loss: {name: cross_entropy}
training: {epochs: 2, batch_size: 16}
k: 1
"""


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "setsweep.sweeps", "run", "mine.yaml", "--in-process"],
        ["-m", "setsweep.sweeps", "losses"],
        ["-m", "setsweep.trainables", "run.yaml"],
        ["-c", "from data import two_classes; from setsweep.data import DATASETS; print(len(DATASETS))"],
    ],
    ids=lambda command: command[1],
)
def test_a_users_own_files_named_like_our_folders_are_not_in_the_way(tmp_path: Path, command: list[str]) -> None:
    for name, text in {**OWN, "mine.yaml": STUDY, "run.yaml": RUN}.items():
        (tmp_path / name).write_text(text)
    ended = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([".", os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
