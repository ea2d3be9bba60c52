from __future__ import annotations

import hashlib

import torch

from setsweep.data.seeding import derived_seed, seeded_generator


def test_the_hash_is_the_documented_one() -> None:
    digest = hashlib.sha256(b"7/label_noise").hexdigest()

    assert derived_seed(7, "label_noise") == int(digest[:16], 16)


def test_equal_seed_and_purpose_give_equal_numbers() -> None:
    assert torch.equal(
        torch.rand(5, generator=seeded_generator(3, "a")), torch.rand(5, generator=seeded_generator(3, "a"))
    )


def test_another_seed_or_purpose_gives_other_numbers() -> None:
    draws = [torch.rand(1, generator=seeded_generator(seed, purpose)) for seed in range(4) for purpose in "abc"]

    assert len(torch.unique(torch.cat(draws))) == len(draws)


def test_the_global_random_state_is_left_alone() -> None:
    before = torch.get_rng_state()

    torch.rand(5, generator=seeded_generator(3, "a"))

    assert torch.equal(torch.get_rng_state(), before)
