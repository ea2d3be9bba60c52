"""A loss of one's own: what its text says of it, and that it keeps the contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from setsweep.losses import LOSSES, build_loss
from setsweep.losses.contract import CHECKS, Case, case_of, check_contract
from setsweep.losses.declaration import Hyperparameter
from setsweep.losses.focal import focal
from setsweep.losses.own import declaration_of, declares
from setsweep.losses.signature import Signature, read_signature


@declares(ranges={"gamma": {"low": 0.0, "search": {"uniform": (0.5, 5.0)}}}, revision=2)
def sharpened(scores: Tensor, labels: Tensor, *, gamma: float = 2) -> Tensor:
    """Focal loss, as one writes it oneself."""
    likely = scores.log_softmax(1).gather(1, labels.unsqueeze(1)).squeeze(1)
    return -(-likely.expm1()).clamp_min(1e-30).pow(gamma) * likely


def noisy(scores: Tensor, labels: Tensor, *, generator: torch.Generator, spread: float = 0.1) -> Tensor:
    moved = scores + spread * torch.randn(scores.shape, generator=generator, dtype=scores.dtype)
    return nn.functional.cross_entropy(moved, labels, reduction="none")


@declares(head="two_head", probabilities="sigmoid")
class Weighted(nn.Module):
    """Rare classes count more."""

    def __init__(self, *, k: int, class_counts: Tensor, power: float = 0.5, both: bool = False) -> None:
        super().__init__()
        self.k, self.both = k, both
        self.register_buffer("weights", (class_counts + 1.0) ** -power, persistent=False)

    def forward(self, scores: tuple[Tensor, Tensor], labels: Tensor) -> Tensor:
        """One value per example."""
        one, other = (nn.functional.cross_entropy(each, labels, reduction="none") for each in scores)
        return self.weights.to(one.dtype)[labels] * (one + other if self.both else one)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("loss", [sharpened, noisy, Weighted])
def test_losses_of_an_authors_own_keep_the_contract(loss: Any, check: Callable[[Case], None]) -> None:
    check(case_of(loss, k=2))


def test_a_signature_declares_what_a_row_of_the_table_declares() -> None:
    own = declaration_of(sharpened)
    assert own.hyperparameters == {"gamma": Hyperparameter(default=2.0, low=0.0, search={"uniform": (0.5, 5.0)})}
    assert type(own.hyperparameters["gamma"].default) is float
    assert (own.about, own.revision, own.needs_k, own.head) == (
        "Focal loss, as one writes it oneself.",
        2,
        False,
        "linear",
    )
    weighted = declaration_of(Weighted)
    assert weighted.defaults() == {"power": 0.5, "both": False}
    assert (weighted.needs_k, weighted.needs_class_counts, weighted.needs_indices) == (True, True, False)
    assert (weighted.head, weighted.probabilities) == ("two_head", "sigmoid")
    assert declaration_of(noisy).needs_generator


def test_it_is_built_and_called_like_those_of_the_table(batch: tuple[Tensor, Tensor]) -> None:
    loss = build_loss(declaration_of(sharpened), num_classes=12, gamma=3)
    torch.testing.assert_close(loss(*batch), focal(*batch, gamma=3.0))
    with pytest.raises(ValueError, match=r"^gamma must be >= 0, got -1\.0\.$"):
        build_loss(declaration_of(sharpened), num_classes=12, gamma=-1.0)
    with pytest.raises(ValueError, match=r"^unknown hyperparameter of .*:sharpened 'gama'\. Did you mean 'gamma'\?"):
        build_loss(declaration_of(sharpened), num_classes=12, gama=1.0)


def test_tensors_that_it_is_given_go_along_to_another_device() -> None:
    def counted(scores: Tensor, labels: Tensor, *, class_counts: Tensor) -> Tensor:
        return scores.new_zeros(len(labels)) + class_counts.sum()

    loss = build_loss(declaration_of(counted), num_classes=3, class_counts=[1, 2, 3]).to("meta")
    assert loss(torch.zeros(2, 3, device="meta"), torch.zeros(2, device="meta")).device.type == "meta"
    assert not loss.state_dict()  # a checkpoint of a run before does not lack it


def _read(text: str) -> Signature:
    return read_signature(text, "mine")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def other(scores, labels): ...", "unknown function or class of its module 'mine'. Known: other."),
        ("def mine(scores:", "its module must be Python, got: "),
        ("def mine(scores): ...", "mine must take scores and labels first, got scores."),
        ("def mine(scores, labels, **more): ...", "mine must name its arguments, got scores, labels, **more."),
        (
            "def mine(scores, labels, *, a): ...",
            "a must have a default, as a hyperparameter, or be one of num_classes, k, ",
        ),
        ("def mine(scores, labels, a='x'): ...", "a must be a float, an int or a bool, got 'x'."),
        ("def mine(scores, labels, a: list = 1): ...", "a must be a float, an int or a bool, got list."),
        ("def mine(scores, labels, a: int = 0.5): ...", "the default of a must be of type int, got 0.5."),
        (
            "def mine(scores, labels, a=A): ...",
            "the default of a must be written out, as it is read and not run, got A.",
        ),
        ("class mine: ...", "mine must have a method forward(self, scores, labels), got none."),
        ("@declares(heat='linear')\ndef mine(s, l): ...", "unknown field of declares 'heat'. Did you mean 'head'?"),
        (
            "@declares(head='three')\ndef mine(s, l): ...",
            "declares: head must be one of linear, two_head, cosine, got ",
        ),
        ("@declares(revision='1')\ndef mine(s, l): ...", "declares: revision must be of type int, got '1'."),
        ("@declares(ranges={'b': {}})\ndef mine(s, l, a=1.0): ...", "unknown hyperparameter in ranges 'b'. Known: a."),
        ("@declares(ranges={'a': {'lo': 0}})\ndef mine(s, l, a=1.0): ...", "unknown field of the range of a 'lo'."),
        ("@declares(ranges={'a': {'low': 2}})\ndef mine(s, l, a=1.0): ...", "the default of a must be >= 2, got 1.0."),
        ("@declares(scaled_by='c')\ndef mine(s, l, a=1.0): ...", "unknown hyperparameter in scaled_by 'c'. Known: a."),
    ],
)
def test_what_is_no_loss_is_told_with_its_rule(text: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        _read(text)
    assert str(caught.value).startswith(said)


def test_reading_runs_nothing_and_knows_every_way_to_write_an_argument() -> None:
    found = _read(
        "import nowhere\nraise SystemExit\n@x.declares(paper='Me 2026')\n"
        "def mine(s, l, k, a=-1, *, b: 'float' = 2): ..."
    )
    assert found.takes == ("k",)
    assert {name: each.default for name, each in found.hyperparameters.items()} == {"a": -1, "b": 2.0}
    assert found.said == {"about": "Your own.", "paper": "Me 2026"}


def mean_of_all(scores: Tensor, labels: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores, labels)


def of_probabilities(scores: Tensor, labels: Tensor) -> Tensor:
    return -scores.softmax(1).gather(1, labels.unsqueeze(1)).squeeze(1).log()


def in_single(scores: Tensor, labels: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores.float(), labels, reduction="none")


def without_gradient(scores: Tensor, labels: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores.detach(), labels, reduction="none")


def half_detached(scores: Tensor, labels: Tensor) -> Tensor:
    own = scores.gather(1, labels.unsqueeze(1)).squeeze(1)
    return scores.detach().logsumexp(1) - own


def by_place(scores: Tensor, labels: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores, labels, reduction="none") * torch.arange(len(labels))


def in_place(scores: Tensor, labels: Tensor) -> Tensor:
    with torch.no_grad():
        scores -= scores.amax(1, keepdim=True)
    return nn.functional.cross_entropy(scores, labels, reduction="none")


def of_five(scores: Tensor, labels: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores, labels, reduction="none") + scores.view(5, -1).sum(1)


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (mean_of_all, "must give one value per example, (5,), got ()."),
        (of_probabilities, "must give finite values for scores up to 100, got"),
        (in_single, "must give values of the precision of the scores, torch.float64, got torch.float32."),
        (without_gradient, "must depend on the scores by operations that have a gradient, got values without one."),
        (
            half_detached,
            "must have the gradient that finite differences give, or declare stops_gradient=True, got another",
        ),
        (by_place, "must give each example its value in any order of the batch, got"),
        (in_place, "must leave scores and labels as they are, got others after the call."),
        (
            of_five,
            "must take scores and labels of any size, got RuntimeError: shape '[5, -1]' is invalid for input of ",
        ),
    ],
)
def test_each_check_finds_what_it_is_for(loss: Any, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_contract(loss)
    assert str(caught.value).startswith(f"{__name__}:{loss.__name__} {said}")


def test_weights_that_learn_are_refused() -> None:
    class Learnt(nn.Linear):
        def __init__(self) -> None:
            super().__init__(2, 2)

        def forward(self, scores: Tensor, labels: Tensor) -> Tensor:
            return scores[:, 0]

    with pytest.raises(ValueError, match=r"Learnt must have no weights that learn, got weight\.$"):
        check_contract(Learnt)


def test_the_table_says_where_a_gradient_is_stopped() -> None:
    assert [name for name, declaration in LOSSES.items() if declaration.stops_gradient] == ["role"]
