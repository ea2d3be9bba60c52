"""The example study of the design, a way to read a text as a study file, and what checks one by its JSON schema."""

# ruff: noqa: E501  # the example stands as it does in the design

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator

from setsweep.sweeps.study.reader import read_study
from setsweep.sweeps.study.schema.study import study_schema
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.errors import StudyError

EXAMPLE = """\
study: fashion-losses
about: Which loss gives the best pairs on Fashion-MNIST?
data: {name: fashion_mnist}
model: {name: small_cnn}
training: {epochs: 10, batch_size: 128, optimizer: {name: sgd, lr: 0.05, momentum: 0.9, nesterov: true}, milestones: [6, 8]}
k: [2, 3]
arms:
  cross_entropy: {}
  avgk: {alpha: {log_uniform: [0.1, 10]}}
  noised_topk_hinge: {epsilon: {log_uniform: [0.01, 10]}, num_samples: 3}
grid: {data.label_noise: [0.0, 0.2]}          # every arm is run at every point
search: {trials: 12, sampler: tpe, objective: val/avg2_accuracy, seeds: 2}
confirm: {seeds: 5}                           # fresh seeds, never those of the search
compare: {baseline: cross_entropy, confidence: 0.95, correction: holm}
resources: {cpus: 1, gpus: 0}
"""


@pytest.fixture
def example() -> str:
    """A study that has every section."""
    return EXAMPLE


@pytest.fixture
def read_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Study]:
    """Calls read a text as the study file ``study.yaml``, with overrides."""
    monkeypatch.chdir(tmp_path)

    def read(text: str, *overrides: str) -> Study:
        Path("study.yaml").write_text(text, encoding="utf-8")
        return read_study("study.yaml", overrides)

    return read


@pytest.fixture
def errors_of(read_text: Callable[..., Study]) -> Callable[..., list[str]]:
    """Calls read a text that is no legal study and give its errors."""

    def errors(text: str, *overrides: str) -> list[str]:
        with pytest.raises(StudyError) as caught:
            read_text(text, *overrides)
        return list(caught.value.errors)

    return errors


@pytest.fixture
def mistake(errors_of: Callable[..., list[str]], example: str) -> Callable[[str, str], list[str]]:
    """Calls put one text for another that the example has once, and give the errors."""

    def errors(before: str, after: str) -> list[str]:
        assert example.count(before) == 1
        return errors_of(example.replace(before, after))

    return errors


@pytest.fixture(scope="session")
def validator() -> Validator:
    """Validates plain data as study files."""
    return Draft202012Validator(study_schema())
