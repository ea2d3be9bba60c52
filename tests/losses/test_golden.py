"""Values and gradients of every loss against those computed from the papers' equations in 40 digits.

Tolerances: relative 1e-9 for values, 1e-6 for gradients, in float64; the golden README says how the numbers were made.
"""

from __future__ import annotations

import pytest
import torch

from setsweep.losses import LOSSES, build_loss
from setsweep.losses.role import role

SETTINGS = {"max_m": "max_margin", "s": "scale", "B": "num_samples"}
PLAIN = [
    "assume_negative",
    "calibrated_topk_hinge",
    "convex_topk_hinge",
    "conftr",
    "cross_entropy",
    "differentiable_topk",
    "epr",
    "focal",
    "ldam",
    "logit_adjustment",
    "noised_imbalanced_topk_hinge",
    "noised_topk_hinge",
    "smooth_topk_hinge",
    "topk_grouping",
    "topk_hinge",
    "topk_transition",
]


def close(actual, expected, rtol):
    torch.testing.assert_close(actual, expected, rtol=rtol, atol=1e-12)


def build(name, case, arrays, **changes):
    named = {SETTINGS.get(key, key): value for key, value in case["params"].items()}
    settings = {key: value for key, value in named.items() if key in LOSSES[name].hyperparameters} | changes
    return build_loss(
        name,
        num_classes=arrays["logits"].shape[1],
        k=case["K"],
        class_counts=arrays.get("cls_num_list"),
        **settings,
    )


def values_of(loss, arrays):
    scores = arrays["logits"].clone().requires_grad_()
    extra = {"noise": arrays["Z"].transpose(1, 2)} if "Z" in arrays else {}
    return scores, loss(scores, arrays["y"], **extra)


def check_gradient(values, scores, expected, defined):
    (gradient,) = torch.autograd.grad(values.mean(), scores)
    close(gradient[defined], expected[defined], 1e-6)


@pytest.mark.parametrize("name", PLAIN)
def test_values_and_gradients_are_those_of_the_paper(name, golden):
    for case, arrays in golden(name):
        scores, values = values_of(build(name, case, arrays), arrays)
        if "paper_loss" in arrays:
            close(values.detach(), arrays["paper_loss"], 1e-9)
        close(values.mean().detach(), arrays["paper_mean"], 1e-9)
        check_gradient(values, scores, arrays["paper_grad"], arrays["grad_defined"])


def test_positive_bce_is_assume_negative_without_the_negatives(golden):
    for case, arrays in golden("assume_negative"):
        scores, values = values_of(build("positive_bce", case, arrays), arrays)
        close(values.detach(), arrays["bceplus_loss"], 1e-9)
        check_gradient(values, scores, arrays["bceplus_grad"], torch.ones_like(arrays["logits"], dtype=torch.bool))


def test_the_transition_weight_can_be_held_constant(golden):
    for case, arrays in golden("topk_transition"):
        scores, values = values_of(build("topk_transition", case, arrays, detach_weight=True), arrays)
        close(values.detach(), arrays["paper_loss"], 1e-9)
        check_gradient(values, scores, arrays["detached_weight_grad"], arrays["detached_weight_grad_defined"])


@pytest.mark.parametrize(("variant", "as_printed"), [("excl", False), ("lit14", True)])
def test_avgk_is_the_sum_of_both_heads_losses(golden, variant, as_printed):
    for case, arrays in golden("avgk"):
        if not arrays["cand_unique"]:
            continue  # which of tied candidates are taken is open
        loss = build("avgk", case, arrays, alpha=case["params"]["alpha"], y_in_negatives=as_printed)
        ml_scores, sccp_scores = (arrays[key].clone().requires_grad_() for key in ("logits", "sccp_logits"))
        batch = loss((ml_scores, sccp_scores), arrays["y"]).mean()
        close(batch.detach(), arrays[f"total_{variant}_mean"], 1e-9)
        to_ml, to_sccp = torch.autograd.grad(batch, (ml_scores, sccp_scores))
        close(to_ml, arrays[f"bce_{variant}_grad_ml"], 1e-6)
        close(to_sccp, arrays["grad_sccp"], 1e-6)


@pytest.mark.parametrize("lam", [0, 1])
def test_role_is_the_published_loss_with_exact_logarithms(golden, lam):
    for case, arrays in golden("role"):
        scores, estimates = (arrays[key].clone().requires_grad_() for key in ("logits", "theta_logits"))
        batch = role(scores, arrays["y"], estimates, k=case["K"], lam=lam).mean()
        close(batch.detach(), arrays[f"eps0_mean_lambda{lam}"], 1e-9)
        if lam == 1:
            to_scores, to_estimates = torch.autograd.grad(batch, (scores, estimates))
            close(to_scores, arrays["eps0_grad_logits"], 1e-6)
            close(to_estimates, arrays["eps0_grad_theta"], 1e-6)


def test_differentiable_topk_is_what_the_published_package_returns(golden):
    # difftopk 0.2.0, bitonic network, Cauchy distribution, softmax for top 1; it takes no m that is not below classes.
    published = [(case, arrays) for case, arrays in golden("differentiable_topk") if "ref_difftopk_loss" in arrays]
    assert len(published) == 7
    for case, arrays in published:
        _, values = values_of(build("differentiable_topk", case, arrays), arrays)
        close(values.detach(), arrays["ref_difftopk_loss"], 1e-9)


def test_the_floor_of_differentiable_topk_hardly_shows_where_the_probability_is_not_tiny(golden):
    # log(p (1 - 2e-7) + 1e-7) - log p is between -2e-7 and 1e-7 / p.
    for case, arrays in golden("differentiable_topk"):
        _, values = values_of(build("differentiable_topk", case, arrays), arrays)
        below = -arrays["paper_probability"].log() - values.detach()
        assert (below > -2.1e-7).all()
        assert (below <= 1e-7 / arrays["paper_probability"]).all()


@pytest.mark.parametrize("name", ["cost_sensitive_cardinality", "constrained_cardinality"])
def test_cardinality_losses_are_those_of_both_heads(golden, name):
    for case, arrays in golden(name):
        loss = build(name, case, arrays)
        assert torch.equal(loss.sizes, arrays["sizes"])
        scores, size_scores = (arrays[key].clone().requires_grad_() for key in ("logits", "size_logits"))
        values = loss((scores, size_scores), arrays["y"])
        close(values.detach(), arrays["paper_loss"], 1e-9)
        close(values.mean().detach(), arrays["paper_mean"], 1e-9)
        to_scores, to_sizes = torch.autograd.grad(values.mean(), (scores, size_scores))
        close(to_scores[arrays["grad_defined"]], arrays["paper_grad"][arrays["grad_defined"]], 1e-6)
        close(to_sizes, arrays["grad_size_logits"], 1e-6)
