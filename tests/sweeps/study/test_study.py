"""A study: its points and its protocol."""

from __future__ import annotations

from collections.abc import Callable

from setsweep.sweeps.study.study import Study

Read = Callable[..., Study]


def test_the_last_key_of_the_grid_varies_fastest(read_text: Read, example: str) -> None:
    study = read_text(example, "grid={data.label_noise: [0, 0.1], model.width: [8, 16]}")
    assert [tuple(point.values()) for point in study.points()] == [(0.0, 8), (0.0, 16), (0.1, 8), (0.1, 16)]


def test_the_protocol_of_a_study_from_before_later_settings_came_is_its_protocol(read_text: Read, example: str) -> None:
    plain, cut_out = read_text(example).protocol(), read_text(example, "training.augment.cutout=8").protocol()
    assert set(plain["training"]) == {
        "epochs", "batch_size", "optimizer", "milestones", "gamma", "keep", "evaluate_every", "threshold_scores",
        "head", "reference_batch_size", "device",
    }  # fmt: skip
    assert cut_out["training"] == {**plain["training"], "augment": {"cutout": 8}}
