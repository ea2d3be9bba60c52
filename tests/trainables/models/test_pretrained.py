"""Pretrained weights: from files and by name, and what is said where they can't be had or don't fit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from setsweep.trainables.config.sections import check_model
from setsweep.trainables.models.classifier import Classifier, build_model

IMAGENET_RESNET18 = "resnet18-f37072fd.pth"  # torchvision's file name


def _build(
    name: str = "resnet18",
    *,
    source: str | Path = "",
    shape: tuple[int, ...] = (3, 64, 64),
    seed: int = 0,
    **settings: Any,
) -> Classifier:
    return build_model(
        check_model({"name": name, "pretrained": str(source), **settings}),
        head="linear",
        input_shape=shape,
        num_classes=7,
        seed=seed,
    )


def _message(name: str = "resnet18", **settings: Any) -> str:
    with pytest.raises(ValueError) as caught:
        _build(name, **settings)
    return str(caught.value)


@pytest.fixture(scope="module")
def weights() -> dict[str, torch.Tensor]:
    """Those of another seed, as torchvision's files hold them: with a classifier of 1000 classes."""
    backbone = _build(seed=1).backbone.state_dict()
    return {**backbone, "fc.weight": torch.ones(1000, 512), "fc.bias": torch.ones(1000)}


def _has(model: Classifier, weights: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(value, weights[name]) for name, value in model.backbone.state_dict().items())


def test_a_file_gives_the_weights_and_the_seed_the_head(tmp_path: Path, weights: dict[str, torch.Tensor]) -> None:
    torch.save(weights, tmp_path / "weights.pth")
    model, other = _build(source=tmp_path / "weights.pth"), _build(source=tmp_path / "weights.pth", seed=2)
    assert _has(model, weights)
    assert _has(other, weights)
    assert model.head.weight.shape == (7, 512)
    assert not torch.equal(model.head.weight, other.head.weight)


def test_the_head_is_that_of_a_run_without_pretrained_weights(tmp_path: Path, weights: dict[str, torch.Tensor]) -> None:
    torch.save(weights, tmp_path / "weights.pth")
    assert torch.equal(_build(source=tmp_path / "weights.pth").head.weight, _build().head.weight)


@pytest.mark.parametrize("wrapper", ["state", "state_dict", "model"])
@pytest.mark.parametrize("prefix", ["module.", "backbone."])
def test_files_of_training_scripts_are_understood(
    wrapper: str, prefix: str, tmp_path: Path, weights: dict[str, torch.Tensor]
) -> None:
    named = {f"{prefix}{name}": value for name, value in weights.items()}
    torch.save({"epoch": 3, wrapper: named}, tmp_path / "checkpoint.pt")
    assert _has(_build(source=tmp_path / "checkpoint.pt"), weights)


def test_our_own_models_are_understood(tmp_path: Path) -> None:
    trained = _build(shape=(3, 32, 32), seed=1)
    torch.save({"config": {"seed": 1}, "state": trained.state_dict(), "num_classes": 7}, tmp_path / "model.pt")
    model = _build(source=tmp_path / "model.pt", shape=(3, 32, 32))
    assert _has(model, trained.backbone.state_dict())


def test_the_names_in_torchvisions_densenet_files_are_understood(tmp_path: Path) -> None:
    new = _build("densenet121", seed=1).backbone.state_dict()
    old = {re.sub(r"(denselayer\d+\.(?:norm|conv))(\d)", r"\1.\2", name): value for name, value in new.items()}
    old = {name: value for name, value in old.items() if not name.endswith("num_batches_tracked")}
    assert "features.denseblock1.denselayer1.norm.1.weight" in old
    torch.save(old, tmp_path / "densenet121.pth")
    assert _has(_build("densenet121", source=tmp_path / "densenet121.pth"), new)


def test_on_gray_images_colours_are_added_up(tmp_path: Path, weights: dict[str, torch.Tensor]) -> None:
    torch.save(weights, tmp_path / "weights.pth")
    gray, colour = (_build(source=tmp_path / "weights.pth", shape=(channels, 64, 64)).eval() for channels in (1, 3))
    images = torch.randn(2, 1, 64, 64)
    assert torch.allclose(gray.backbone(images), colour.backbone(images.expand(-1, 3, -1, -1)), atol=1e-4)


def test_weights_are_named_as_torchvision_names_them(
    tmp_path: Path, weights: dict[str, torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    cache = tmp_path / "hub" / "checkpoints"
    cache.mkdir(parents=True)
    torch.save(weights, cache / IMAGENET_RESNET18)  # as if it had been downloaded
    assert _has(_build(source="IMAGENET1K_V1"), weights)


def test_weights_that_cannot_be_downloaded_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens there
    message = _message(source="IMAGENET1K_V1")
    assert message.startswith("model.pretrained: IMAGENET1K_V1 of resnet18 can't be had: URLError: <urlopen error ")
    assert message.endswith(
        f" Put https://download.pytorch.org/models/{IMAGENET_RESNET18} into {tmp_path / 'hub' / 'checkpoints'}, "
        "or give the full path of a file."
    )


def test_a_damaged_download_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    cache = tmp_path / "hub" / "checkpoints"
    cache.mkdir(parents=True)
    (cache / IMAGENET_RESNET18).write_bytes(b"half of it")
    assert _message(source="IMAGENET1K_V1").startswith("model.pretrained: IMAGENET1K_V1 of resnet18 can't be had: ")


def test_a_file_that_does_not_fit_is_refused_with_what_differs(
    tmp_path: Path, weights: dict[str, torch.Tensor]
) -> None:
    path = tmp_path / "weights.pth"
    torch.save(weights, path)
    assert _message(source=path, stem="small") == (
        f"model.pretrained must fit resnet18 as it is set, got '{path}': "
        "conv1.weight is (64, 3, 7, 7) instead of (64, 3, 3, 3)."
    )
    assert _message("resnet34", source=path).startswith(
        f"model.pretrained must fit resnet34 as it is set, got '{path}': layer1.2.conv1.weight is missing; "
        "layer1.2.bn1.weight is missing; layer1.2.bn1.bias is missing; and "
    )
    torch.save({**weights, "extra.weight": torch.ones(1)}, path)
    assert _message(source=path).endswith(": extra.weight is unknown.")


class _Code:
    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("this must not be run",))


def test_a_file_that_holds_no_weights_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "weights.pth"
    assert _message(source=path) == f"model.pretrained must be a file on this machine, got '{path}'."
    for content in (b"", b"no weights", b"PK\x03\x04 cut off"):
        path.write_bytes(content)
        assert _message(source=path).startswith(f"model.pretrained must hold PyTorch weights, got '{path}': ")
    torch.save(_Code(), path)
    assert _message(source=path).startswith(f"model.pretrained must hold PyTorch weights, got '{path}': ")
    assert "this must not be run" not in capsys.readouterr().out
    for other in ([torch.ones(1)], {"epoch": 3}):
        torch.save(other, path)
        assert _message(source=path) == f"model.pretrained must hold tensors by name, got '{path}'."


def test_a_model_whose_weights_follow_needs_no_file(tmp_path: Path) -> None:
    settings = check_model({"name": "resnet18", "pretrained": str(tmp_path / "gone.pth")})
    model = build_model(settings, head="linear", input_shape=(3, 32, 32), num_classes=7, seed=0, pretrained=False)
    assert model.head.weight.shape == (7, 512)


def test_weights_of_the_other_stem_are_refused_before_they_are_downloaded() -> None:
    assert _message(source="IMAGENET1K_V1", stem="small") == (
        "model.stem must be imagenet for pretrained IMAGENET1K_V1, got 'small'."
    )
    assert _message(source="IMAGENET1K_V1", shape=(3, 32, 32)) == (
        "model.stem must be imagenet for pretrained IMAGENET1K_V1, got 'auto' with images of shape (3, 32, 32)."
    )


@pytest.mark.parametrize("source", ["DEFAULT", "IMAGENET1K_V9", "weights.pth", "/weights.safetensors"])
def test_neither_a_name_nor_a_full_path_is_refused(source: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_model({"name": "resnet50", "pretrained": source})
    assert str(caught.value) == (
        "model.pretrained must be one of IMAGENET1K_V1, IMAGENET1K_V2, or the full path of a .pt or .pth file, "
        f"got {source!r}."
    )
