from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from setsweep.data import load_base, load_dataset
from setsweep.data.dataset import Dataset
from setsweep.data.label_noise import noisy_labels, redrawn_labels, with_label_noise
from setsweep.data.seeding import seeded_generator

GROUPS = torch.tensor([2, 0, 1, 0, 2, 1, 0, 2, 2])  # groups of 3, 2 and 4 classes, in no order
LABELS = torch.arange(9).repeat(4000)
FIFTEEN = torch.arange(15).repeat(4000)


def noisy(probability: float, seed: int = 0) -> Tensor:
    return noisy_labels(LABELS, GROUPS, probability, seeded_generator(seed, "test"))


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_the_share_of_changed_labels_is_the_probability(probability: float) -> None:
    share = (noisy(probability) != LABELS).double().mean().item()

    # 36,000 independent changes: 5 standard deviations, false alarm 6e-7
    assert abs(share - probability) < 5 * math.sqrt(probability * (1 - probability) / len(LABELS))


def test_every_label_stays_in_its_superclass() -> None:
    assert torch.equal(GROUPS[noisy(0.7)], GROUPS[LABELS])


def test_the_other_classes_of_the_superclass_are_equally_likely() -> None:
    labels = noisy(1.0)
    table = torch.zeros(9, 9).index_put_((LABELS, labels), torch.ones(len(LABELS)), accumulate=True)

    same = GROUPS[:, None] == GROUPS
    others = same & ~torch.eye(9, dtype=torch.bool)
    expected = others * 4000 / others.sum(1, keepdim=True)
    assert torch.equal(table > 0, others)
    # 24 binomial counts of 4,000: 6 standard deviations, false alarm 24 * 2e-9 = 5e-8
    deviation = (4000 * (expected / 4000) * (1 - expected / 4000)).sqrt()
    assert ((table - expected).abs() <= 6 * deviation).all()


def test_no_noise_changes_nothing_and_full_noise_changes_all() -> None:
    assert torch.equal(noisy(0.0), LABELS)
    assert (noisy(1.0) != LABELS).all()


def test_changes_at_a_low_probability_are_kept_at_a_higher_one() -> None:
    low, high = noisy(0.2), noisy(0.4)

    changed = low != LABELS
    assert torch.equal(low[changed], high[changed])


def test_noise_is_reproduced_by_its_seed_and_differs_between_seeds() -> None:
    assert torch.equal(noisy(0.5, seed=1), noisy(0.5, seed=1))
    assert not torch.equal(noisy(0.5, seed=1), noisy(0.5, seed=2))


def test_a_class_alone_in_its_superclass_keeps_its_labels() -> None:
    labels = torch.tensor([0, 1, 2] * 500)

    noisy = noisy_labels(labels, torch.tensor([0, 0, 1]), 1.0, seeded_generator(0, "test"))

    assert torch.equal(noisy, torch.tensor([1, 0, 2] * 500))


def test_runs_share_images_and_clean_splits_and_have_their_own_training_labels() -> None:
    base = load_base({"name": "digits"})
    images, labels = base.train.inputs.clone(), base.train.labels.clone()

    runs = [load_dataset({"name": "digits", "label_noise": 0.4}, seed=seed, base=base) for seed in (0, 0, 1)]

    for run in runs:
        assert run.train.inputs is base.train.inputs
        assert run.val is base.val
        assert run.test is base.test
    assert torch.equal(runs[0].train.labels, runs[1].train.labels)
    assert not torch.equal(runs[0].train.labels, runs[2].train.labels)
    assert torch.equal(base.train.inputs, images)
    assert torch.equal(base.train.labels, labels)


def test_without_label_noise_a_run_has_the_shared_data_themselves() -> None:
    base = load_base({"name": "digits"})

    assert load_dataset({"name": "digits"}, seed=5, base=base) is base


def test_a_run_that_is_given_no_shared_data_loads_the_same() -> None:
    settings = {"name": "digits", "label_noise": 0.3}

    alone, shared = (load_dataset(settings, seed=2, base=base) for base in (None, load_base(settings)))

    assert torch.equal(alone.train.inputs, shared.train.inputs)
    assert torch.equal(alone.train.labels, shared.train.labels)


def test_data_drawn_from_the_seed_can_have_label_noise_too() -> None:
    clean, noisy_run = (load_dataset({"name": "circle", "label_noise": p}, seed=0) for p in (0.0, 0.5))

    assert torch.equal(clean.train.inputs, noisy_run.train.inputs)
    assert torch.equal(clean.test.labels, noisy_run.test.labels)
    changed = (clean.train.labels != noisy_run.train.labels).double().mean()
    assert abs(changed - 0.5) < 5 * math.sqrt(0.25 / 1800)  # false alarm 6e-7


def redrawn(probability: float, seed: int = 0) -> Tensor:
    return redrawn_labels(FIFTEEN, probability, seeded_generator(seed, "test"))


def table_of(clean: Tensor, noisy_ones: Tensor, classes: int) -> Tensor:
    return torch.bincount(clean * classes + noisy_ones, minlength=classes * classes).view(classes, classes)


@pytest.mark.parametrize("probability", [0.1, 0.5, 1.0])
def test_the_published_noise_draws_from_all_five_of_a_block_the_old_label_included(probability: float) -> None:
    table = table_of(FIFTEEN, redrawn(probability), 15)

    # A label stays with probability 1 - 4 p / 5 and becomes each of the other four with p / 5.
    block = (torch.arange(15)[:, None] // 5 == torch.arange(15) // 5).double()
    law = block * probability / 5 + torch.eye(15) * (1 - probability)
    assert torch.equal(table > 0, block > 0)
    # 75 binomial counts of 4,000: 6 standard deviations, false alarm 75 x 2e-9 = 1.5e-7
    assert ((table - 4000 * law).abs() <= 6 * (4000 * law * (1 - law)).sqrt()).all()


def test_the_published_noise_is_nested_and_comes_from_its_seed() -> None:
    low, high = redrawn(0.2), redrawn(0.4)

    changed = low != FIFTEEN
    assert torch.equal(low[changed], high[changed])
    assert torch.equal(redrawn(0.5, seed=1), redrawn(0.5, seed=1))
    assert not torch.equal(redrawn(0.5, seed=1), redrawn(0.5, seed=2))
    assert torch.equal(redrawn(0.0), FIFTEEN)


def test_the_published_noise_of_cifar100_is_in_blocks_of_the_alphabet_and_leaves_the_superclasses(
    cifar100: Dataset,
) -> None:
    assert list(cifar100.class_names) == sorted(cifar100.class_names)
    assert cifar100.superclasses is not None

    noisy_ones = with_label_noise(cifar100, 0.5, seed=0, kind="published").train.labels

    clean = cifar100.train.labels
    assert torch.equal(noisy_ones // 5, clean // 5)
    assert len(cifar100.superclasses[:5].unique()) > 1  # apple, aquarium fish, baby, bear, beaver
    assert not torch.equal(cifar100.superclasses[noisy_ones], cifar100.superclasses[clean])
    # 45,000 independent changes with probability 0.4: 5 standard deviations, false alarm 6e-7
    share = (noisy_ones != clean).double().mean().item()
    assert abs(share - 0.4) < 5 * math.sqrt(0.4 * 0.6 / len(clean))


def test_a_run_has_the_kind_of_noise_that_its_settings_name() -> None:
    settings = {"name": "digits", "label_noise": 1.0}

    exact, published = (load_dataset({**settings, "label_noise_kind": kind}, seed=0) for kind in ("exact", "published"))

    clean = load_base(settings)
    assert torch.equal(load_dataset(settings, seed=0).train.labels, exact.train.labels)
    assert (exact.train.labels != clean.train.labels).all()
    assert torch.equal(published.train.labels // 5, clean.train.labels // 5)
    assert torch.equal(published.val.labels, clean.val.labels)
    assert torch.equal(published.test.labels, clean.test.labels)
    # 1,077 labels that stay with probability 1/5: 6 standard deviations, false alarm 2e-9
    stays = (published.train.labels == clean.train.labels).double().mean().item()
    assert abs(stays - 0.2) < 6 * math.sqrt(0.2 * 0.8 / 1077)
