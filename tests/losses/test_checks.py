from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from setsweep.losses.checks import at_labels, check_batch, check_k, check_range, widened
from setsweep.losses.kernels.short_rows import by_class

SCORES = torch.arange(6.0).view(2, 3)
LABELS = torch.tensor([2, 0])


@pytest.mark.parametrize(
    ("dtype", "wide"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_half_precision_is_widened_and_all_else_left_as_it_is(dtype: torch.dtype, wide: torch.dtype) -> None:
    scores = SCORES.to(dtype)
    assert check_batch(scores, LABELS).dtype == wide
    assert torch.equal(widened(scores), SCORES.to(wide))
    assert (widened(scores) is scores) == (dtype == wide)


@pytest.mark.parametrize(
    ("scores", "got"),
    [
        (torch.zeros(3), r"float32 of shape \(3,\)"),
        (torch.zeros(2, 3, 1), r"float32 of shape \(2, 3, 1\)"),
        (torch.zeros(2, 3, dtype=torch.int64), r"int64 of shape \(2, 3\)"),
    ],
)
def test_scores_that_are_none_are_refused(scores: torch.Tensor, got: str) -> None:
    with pytest.raises(ValueError, match=rf"^scores must be floating point of shape \(batch, classes\), got {got}\.$"):
        check_batch(scores, LABELS)


@pytest.mark.parametrize(
    ("labels", "got"),
    [
        (LABELS.int(), r"int32 of shape \(2,\)"),
        (torch.tensor([0]), r"int64 of shape \(1,\)"),
        (torch.tensor([[0], [1]]), r"int64 of shape \(2, 1\)"),
    ],
)
@pytest.mark.parametrize("soft", [False, True])
def test_labels_that_do_not_fit_are_refused(labels: torch.Tensor, got: str, soft: bool) -> None:
    rule = r"int64 of shape \(2,\), one for each row of scores"
    with pytest.raises(ValueError, match=rf"^labels must be {rule}, got {got}\.$"):
        check_batch(SCORES, labels, soft_labels=soft)


def test_soft_labels_are_taken_where_they_are_asked_for_and_have_the_shape_of_the_scores() -> None:
    soft = torch.full((2, 3), 1 / 3)
    assert check_batch(SCORES, soft, soft_labels=True) is SCORES
    with pytest.raises(ValueError, match=r"^labels must be int64 class indices, got float32 of shape \(2, 3\)\.$"):
        check_batch(SCORES, soft)
    said = r"^soft labels must have the shape of scores \(2, 3\), got float32 of shape \(2, 2\)\.$"
    with pytest.raises(ValueError, match=said):
        check_batch(SCORES, soft[:, :2], soft_labels=True)


def test_the_values_at_the_labels_and_their_gradient_have_the_layout_of_the_values() -> None:
    for values in (SCORES.clone(), by_class(SCORES)):
        leaf = values.detach().requires_grad_()
        found = at_labels(leaf, LABELS)
        (gradient,) = torch.autograd.grad(found.sum(), leaf)
        assert found.tolist() == [2.0, 3.0]
        assert gradient.tolist() == [[0, 0, 1], [1, 0, 0]]
        assert gradient.stride() == values.stride()


@pytest.mark.parametrize("label", [3, -1, -100])
def test_a_label_that_is_no_column_is_refused_in_either_layout(label: int) -> None:
    for values in (SCORES, by_class(SCORES)):
        with pytest.raises(ValueError, match=rf"^labels must be between 0 and num_classes - 1 = 2, got {label}\.$"):
            at_labels(values, torch.tensor([0, label]))


def test_another_error_of_the_look_up_is_not_taken_for_a_bad_label() -> None:
    with pytest.raises(RuntimeError, match="int64"):
        at_labels(SCORES, LABELS.to(torch.int16))


def test_a_range_names_its_subject_its_size_and_the_first_index_outside() -> None:
    check_range("indices", torch.tensor([0, 4]), "num_examples", 5)
    check_range("indices", torch.tensor([], dtype=torch.int64), "num_examples", 5)
    with pytest.raises(ValueError, match=r"^indices must be between 0 and num_examples - 1 = 4, got 7\.$"):
        check_range("indices", torch.tensor([1, 7, -3]), "num_examples", 5)


@pytest.mark.skipif(not torch.backends.cuda.is_built(), reason="needs a PyTorch that was built with CUDA")
def test_a_range_is_not_looked_at_on_a_gpu_where_that_would_wait() -> None:
    with FakeTensorMode():  # reading a value raises
        check_range("indices", torch.empty(3, dtype=torch.int64, device="cuda"), "num_examples", 5)


@pytest.mark.parametrize("k", [0, 5, -1, None, 2.0, "2", True])
def test_a_set_size_is_a_whole_number_that_leaves_a_class_out(k: Any) -> None:
    assert check_k(1, 5) == 1
    assert check_k(4, 5) == 4
    with pytest.raises(ValueError, match=rf"^k must be between 1 and num_classes - 1 = 4, got {k!r}\.$"):
        check_k(k, 5)
