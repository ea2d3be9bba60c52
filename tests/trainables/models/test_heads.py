"""Heads on top of features."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from setsweep.losses.declaration import Head
from setsweep.trainables.models.heads import CosineHead, TwoHead, build_head


@pytest.mark.parametrize(("head", "kind"), [("linear", nn.Linear), ("two_head", TwoHead), ("cosine", CosineHead)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_head_is_of_the_kind_asked_for(head: Head, kind: type, bias: bool) -> None:
    built = build_head(head, 5, 7, bias=bias)
    assert type(built) is kind
    has_bias = any(name.endswith("bias") for name, _ in built.named_parameters())
    assert has_bias == (bias and head != "cosine")


def test_two_heads_score_the_same_features_each_by_weights_of_its_own() -> None:
    head, features = TwoHead(5, 7), torch.randn(4, 5)
    ml, sccp = head(features)
    assert torch.equal(ml, head.ml(features))
    assert torch.equal(sccp, head.sccp(features))
    assert not torch.equal(ml, sccp)


def test_scores_of_the_cosine_head_are_cosines() -> None:
    head, inputs = CosineHead(5, 7), torch.randn(4, 5)
    expected = nn.functional.cosine_similarity(inputs[:, None], head.weight[None], dim=2)
    assert torch.allclose(head(inputs), expected, atol=1e-6)
    assert torch.allclose(head(100 * inputs), expected, atol=1e-6)
