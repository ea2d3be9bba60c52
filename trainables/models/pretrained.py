"""Pretrained weights: by the name that torchvision gives them, or from a file.

Every entry but the classifier's must be there and have the model's shape; nothing else is left out or made to fit, with
one exception: for gray images, the weights of a first convolution on colours are added up, which gives the same
features as a gray image in all three channels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setsweep.trainables.settings.rules import Rule

if TYPE_CHECKING:
    from torch import Tensor, nn

SUFFIXES = (".pt", ".pth")
WRAPPERS = ("state", "state_dict", "model")  # our own files, training scripts, torchvision's reference scripts
PREFIXES = ("module.", "backbone.")  # DataParallel, our own files
CLASSIFIERS = ("fc", "classifier", "heads", "head")  # ResNet's, DenseNet's, the ViT's, our own files'
OLD_DENSENET = re.compile(r"\.(norm|conv)\.([12])\.")  # torchvision's files still have the names of PyTorch 0.3
SHOWN = 3


def pretrained_rule(names: Iterable[str]) -> Rule:
    """What can be said of a source before anything is read: "" for none, one of `names`, or the full path of a file."""
    known = list(names)
    words = f"one of {', '.join(known)}, or the full path of a .pt or .pth file"

    def check(source: Any) -> str:
        if not isinstance(source, str) or (source and source not in known and not _is_file(source)):
            raise ValueError(f"must be {words}, got {source!r}.")
        return source

    schema = {"anyOf": [{"enum": ["", *known]}, {"type": "string", "pattern": r"^/.*\.(pt|pth)$"}]}
    return Rule("other", check, words, schema)


def load_pretrained(network: nn.Module, source: str, *, architecture: str) -> None:
    """Overwrite the weights of a network without its classifier.

    Args:
        network: one of torchvision's, its classifier taken off.
        source: see `pretrained_rule`.
        architecture: torchvision's name of the network.

    Raises:
        ValueError: the weights can't be had, can't be read, or don't fit.
    """
    weights = _read(Path(source).expanduser()) if _is_file(source) else _download(architecture, source)
    own = network.state_dict()
    found = {}
    for key, value in _entries(weights, source).items():
        if key.split(".")[0] not in CLASSIFIERS:
            found[key] = _gray(value, own[key]) if key in own else value
    differences = list(_differences(own, found))
    if differences:
        more = f"; and {len(differences) - SHOWN} more" if len(differences) > SHOWN else ""
        raise ValueError(
            f"model.pretrained must fit {architecture} as it is set, got {source!r}: "
            f"{'; '.join(differences[:SHOWN])}{more}."
        )
    network.load_state_dict(found, strict=False)


def _is_file(source: str) -> bool:
    path = Path(source).expanduser()
    return path.is_absolute() and path.suffix in SUFFIXES


def _read(path: Path) -> Any:
    import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ValueError(f"model.pretrained must be a file on this machine, got {str(path)!r}.") from None
    except Exception as error:  # a damaged file can raise anything
        raise ValueError(f"model.pretrained must hold PyTorch weights, got {str(path)!r}: {_brief(error)}") from error


def _download(architecture: str, name: str) -> Any:
    """The weights from torch.hub's cache, which they are downloaded to first where they are not there."""
    import torch
    import torchvision

    weights = torchvision.models.get_model_weights(architecture)[name]
    try:
        return weights.get_state_dict(progress=False, check_hash=True, map_location="cpu", weights_only=True)
    except Exception as error:  # no network, or a damaged file
        raise ValueError(
            f"model.pretrained: {name} of {architecture} can't be had: {_brief(error)} Put {weights.url} into "
            f"{Path(torch.hub.get_dir()) / 'checkpoints'}, or give the full path of a file."
        ) from error


def _brief(error: Exception) -> str:
    """The first line of a message: PyTorch appends pages of advice."""
    line = str(error).partition("\n")[0].rstrip(".")
    return f"{type(error).__name__}: {line}."


def _entries(loaded: Any, source: str) -> dict[str, Tensor]:
    """The tensors of a file by the names that the network has for them."""
    from torch import Tensor

    if isinstance(loaded, Mapping):
        loaded = next((loaded[key] for key in WRAPPERS if isinstance(loaded.get(key), Mapping)), loaded)
    if not isinstance(loaded, Mapping) or not all(isinstance(value, Tensor) for value in loaded.values()):
        raise ValueError(f"model.pretrained must hold tensors by name, got {source!r}.")
    entries = {}
    for key, value in loaded.items():
        name = reduce(str.removeprefix, PREFIXES, key)
        entries[OLD_DENSENET.sub(r".\1\2.", name)] = value
    return entries


def _gray(value: Tensor, own: Tensor) -> Tensor:
    colours = value.ndim == own.ndim == 4 and value.shape[1] == 3 and own.shape[1] == 1
    return value.sum(dim=1, keepdim=True) if colours else value


def _differences(own: Mapping[str, Tensor], found: Mapping[str, Tensor]) -> Iterable[str]:
    for key, value in own.items():
        if key not in found:
            if not key.endswith("num_batches_tracked"):  # files from before PyTorch 0.4.1 have none
                yield f"{key} is missing"
        elif found[key].shape != value.shape:
            yield f"{key} is {tuple(found[key].shape)} instead of {tuple(value.shape)}"
    yield from (f"{key} is unknown" for key in found if key not in own)
