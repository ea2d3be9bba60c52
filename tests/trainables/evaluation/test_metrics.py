from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from setsweep.trainables.evaluation.class_groups import class_groups
from setsweep.trainables.evaluation.metrics import evaluate, label_ranks

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "metrics.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["topk_macro"], ids=lambda case: f"k={case['K']}")
def test_top_k_and_macro_top_k_are_the_golden_ones(case):
    scores, labels, k = torch.tensor(case["scores"]), torch.tensor(case["y"]), case["K"]
    assert (label_ranks(scores, labels) < k).int().tolist() == case["correct"]
    metrics = evaluate([(scores, labels)], num_classes=4, ks=[k], probabilities="softmax").metrics
    assert metrics[f"top{k}_accuracy"] == pytest.approx(case["topk_acc"])
    assert metrics[f"macro_top{k}_accuracy"] == pytest.approx(case["macro_over_present_classes"])
    assert metrics["classes_present"] == 3


@pytest.mark.parametrize("case", GOLDEN["topk_ties"], ids=lambda case: f"k={case['K']}")
def test_ties_go_to_the_lowest_class(case):
    ranks = label_ranks(torch.tensor(case["scores"]), torch.tensor(case["y"]))
    assert (ranks < case["K"]).int().tolist() == case["lowest_index_first"]


@pytest.mark.parametrize("case", GOLDEN["avgk_softmax_vs_sigmoid"][::3] + GOLDEN["avgk_softmax_vs_sigmoid"][1::3])
def test_average_k_by_softmax_and_by_sigmoid(case):
    scores, labels, k = torch.tensor(case["logits"], dtype=torch.float64), torch.tensor(case["y"]), case["K"]
    evaluation = evaluate([(scores, labels)], num_classes=4, ks=[k], probabilities=case["scores"])
    assert evaluation.thresholds[k] == pytest.approx(case["lambda_val"], rel=1e-12)
    assert evaluation.metrics[f"avg{k}_accuracy"] == pytest.approx(case["acc"])
    assert evaluation.metrics[f"avg{k}_set_size"] * 3 == pytest.approx(sum(case["set_sizes_ge"]))


def test_few_medium_and_many_are_means_over_the_classes_present():
    case = GOLDEN["few_medium_many"]
    labels, hit = torch.tensor(case["y"]), torch.tensor(case["hit"])
    scores = torch.zeros(len(labels), 7).scatter(1, labels[:, None], 2.0 * hit[:, None].float() - 1)
    metrics = evaluate(
        [(scores, labels)],
        num_classes=7,
        ks=[1],
        probabilities="softmax",
        train_class_counts=torch.tensor(case["train_counts"]),
    ).metrics
    for group in ("few", "medium", "many"):
        assert metrics[f"macro_top1_accuracy_{group}"] == pytest.approx(case[f"{group}_mean_over_classes"])
    assert metrics["top1_accuracy"] == pytest.approx(case["overall"])


def test_groups_are_left_out_where_all_classes_are_in_one():
    scores, labels = torch.randn(6, 3), torch.tensor([0, 1, 2, 0, 1, 2])
    one = evaluate([(scores, labels)], num_classes=3, ks=[1], probabilities="softmax", train_class_counts=torch.ones(3))
    none = evaluate([(scores, labels)], num_classes=3, ks=[1], probabilities="softmax")
    assert one.metrics == none.metrics
    assert not any(name.endswith(("few", "medium", "many")) for name in one.metrics)
    assert list(class_groups(torch.tensor([19, 20, 100, 101]))) == ["few", "medium", "many"]


@pytest.mark.parametrize("num_examples", [None, 500])
@pytest.mark.parametrize("chunk", [1, 64, 500])
def test_chunks_give_what_the_whole_split_gives(chunk, num_examples):
    generator = torch.Generator().manual_seed(0)
    scores, labels = torch.randn(500, 30, generator=generator), torch.randint(30, (500,), generator=generator)
    settings = {"num_classes": 30, "ks": [1, 3, 30], "probabilities": "softmax"}
    whole = evaluate([(scores, labels)], **settings)
    chunks = zip(scores.split(chunk), labels.split(chunk), strict=True)
    parts = evaluate(chunks, num_examples=num_examples, **settings)
    assert parts.metrics == pytest.approx(whole.metrics, rel=1e-12)
    assert parts.thresholds == pytest.approx(whole.thresholds, rel=1e-6)
    assert whole.metrics["top30_accuracy"] == whole.metrics["avg30_accuracy"] == 1
    assert whole.metrics["avg3_set_size"] == 3
    assert whole.metrics["avg30_set_size"] == 30


def test_thresholds_from_validation_are_applied_to_test():
    case = GOLDEN["avgk_threshold"][0]
    labels = torch.tensor(case["y_test"])
    scores = torch.tensor(case["P_test"], dtype=torch.float64).log()  # the softmax of a logarithm is its argument
    evaluation = evaluate(
        [(scores, labels)], num_classes=4, ks=[1], probabilities="softmax", thresholds={1: case["lambda_val"], 2: 0.5}
    )
    assert evaluation.thresholds == {1: case["lambda_val"]}
    assert evaluation.metrics["avg1_accuracy"] == case["test_avgk_acc"]
    assert evaluation.metrics["avg1_set_size"] == case["test_mean_set_size_ge"]


def test_a_nan_score_is_wrong_for_every_k():
    scores = torch.tensor([[torch.nan, 1.0], [2.0, torch.nan], [2.0, 1.0]])
    metrics = evaluate([(scores, torch.tensor([0, 0, 0]))], num_classes=2, ks=[1, 2], probabilities="softmax").metrics
    names = ("top1_accuracy", "top2_accuracy", "avg1_accuracy", "avg2_accuracy")
    assert [metrics[name] for name in names] == pytest.approx([1 / 3] * 4)


def test_half_precision_scores_are_evaluated_in_single():
    scores, labels = torch.randn(50, 9).half(), torch.randint(9, (50,))
    settings = {"num_classes": 9, "ks": [2], "probabilities": "softmax"}
    assert evaluate([(scores, labels)], **settings) == evaluate([(scores.float(), labels)], **settings)


@pytest.mark.parametrize("k", [0, 4])
def test_a_k_out_of_range_is_refused(k):
    with pytest.raises(ValueError, match=rf"^k must be between 1 and num_classes = 3, got {k}\.$"):
        evaluate([(torch.zeros(1, 3), torch.tensor([0]))], num_classes=3, ks=[k], probabilities="softmax")


def test_a_missing_threshold_a_wrong_label_and_an_empty_split_are_refused():
    settings = {"num_classes": 3, "ks": [1], "probabilities": "softmax"}
    with pytest.raises(ValueError, match=r"^thresholds must have one for each k in \[1\], got \[2\]\.$"):
        evaluate([], thresholds={2: 0.5}, **settings)
    with pytest.raises(ValueError, match=r"^labels must be between 0 and num_classes - 1 = 2, got 3\.$"):
        evaluate([(torch.zeros(1, 3), torch.tensor([3]))], **settings)
    with pytest.raises(ValueError, match=r"^chunks must hold at least one example, got none\.$"):
        evaluate([], **settings)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_scores_give_what_the_cpu_gives():
    scores, labels = torch.randn(300, 40), torch.randint(40, (300,))
    settings = {"num_classes": 40, "ks": [2, 5], "probabilities": "softmax"}
    cpu, cuda = (evaluate([(scores.to(device), labels.to(device))], **settings) for device in ("cpu", "cuda"))
    assert cuda.metrics == pytest.approx(cpu.metrics)
