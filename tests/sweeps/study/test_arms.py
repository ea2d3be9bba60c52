"""The arms of a study: what each fixes and searches, and what is no arm."""

# ruff: noqa: E501  # one mistake a line reads best, however long its message

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.losses import LOSSES
from setsweep.losses.values import nearest
from setsweep.sweeps.study.arms import read_arms
from setsweep.sweeps.study.space import Space
from setsweep.sweeps.study.study import Arm, Study
from setsweep.sweeps.study.text.findings import Findings
from setsweep.sweeps.study.text.source import read_source
from setsweep.sweeps.study.training import TrainingBlock
from setsweep.trainables.config.run_config import TRAINING

Errors = Callable[..., list[str]]
Read = Callable[..., Study]

KNOWN_LOSSES = ", ".join(sorted(LOSSES))
SMALL = "study: small\ndata: {name: digits}\nmodel: {name: linear}\nk: 2\narms: [cross_entropy]\n"


def test_an_arm_that_says_nothing_is_its_loss_as_it_is(read_text: Read) -> None:
    for arms in ("{focal: , cross_entropy: {}}", "[focal, cross_entropy]"):
        assert read_text(SMALL.replace("[cross_entropy]", arms)).arms == {
            "focal": Arm(name="focal", loss="focal"),
            "cross_entropy": Arm(name="cross_entropy", loss="cross_entropy"),
        }


def test_a_list_of_losses_is_recorded_as_a_mapping(read_text: Read) -> None:
    """So that an override of one of them, put over the record, finds it."""
    study = read_text(SMALL)
    assert read_text(study.text, "arms.focal={gamma: 1}").arms["focal"].fixed == {"loss.gamma": 1.0}


def test_arms_with_an_error_are_told_and_the_others_read() -> None:
    text = "arms:\n  focal: {gamma: 1}\n  avg_k: {}\n  ldam: {scale: {uniform: [10, 20]}}\n"
    findings = Findings(read_source(text, "s.yaml"))
    arms = read_arms(findings, TrainingBlock(), {}, k=5)
    assert arms == {
        "focal": Arm(name="focal", loss="focal", fixed={"loss.gamma": 1.0}),
        "ldam": Arm(
            name="ldam",
            loss="ldam",
            searched={"loss.scale": Space(kind="uniform", low=10.0, high=20.0, default=30.0)},
        ),
    }
    assert findings.within("arms")


def test_two_arms_may_use_one_loss(read_text: Read) -> None:
    study = read_text(SMALL.replace("[cross_entropy]", "{mild: {loss: avgk, alpha: 0.5}, strong: {loss: avgk, k: 3}}"))
    assert study.arms == {
        "mild": Arm(name="mild", loss="avgk", fixed={"loss.k": 2, "loss.alpha": 0.5}),
        "strong": Arm(name="strong", loss="avgk", fixed={"loss.k": 3}),
    }
    assert study.compare.baseline == "mild"


@pytest.mark.parametrize(
    ("overrides", "k"),
    [
        (["search.objective=val/macro_top3_accuracy"], 3),
        (["search={}"], 2),
        (["search={}", "arms.avgk.k=4"], 4),
    ],
)
def test_a_loss_is_made_for_its_own_k_or_the_objectives(
    read_text: Read, example: str, overrides: list[str], k: int
) -> None:
    assert read_text(example, *overrides).arms["avgk"].fixed["loss.k"] == k


def test_without_a_search_a_loss_is_made_for_the_first_k(read_text: Read) -> None:
    study = read_text(SMALL.replace("k: 2", "k: [3, 4]").replace("cross_entropy", "avgk"))
    assert study.arms["avgk"].fixed == {"loss.k": 3}


def test_default_space_is_the_range_of_the_loss(read_text: Read, example: str) -> None:
    arm = read_text(example, "arms.noised_topk_hinge={epsilon: default_space, num_samples: default_space}")
    assert arm.arms["noised_topk_hinge"].searched == {
        "loss.epsilon": Space(kind="log_uniform", low=0.01, high=10.0, default=0.2),
        "loss.num_samples": Space(kind="int", low=1, high=50, default=10),
    }


def test_searched_training_values_are_searched_by_every_arm_that_does_not_fix_them(
    read_text: Read, example: str
) -> None:
    study = read_text(
        example,
        "training.optimizer.lr={log_uniform: [1e-3, 1e-2]}",
        "training.batch_size={choice: [128, full]}",
        "arms.cross_entropy.training.optimizer.lr=0.3",
        "arms.avgk.training.optimizer.lr={uniform: [0.05, 1], default: 0.5}",
    )
    batch_size = Space(kind="choice", choices=(128, "full"), default=128)
    middle = Space(kind="log_uniform", low=0.001, high=0.01, default=pytest.approx(10**-2.5))
    assert study.arms["cross_entropy"].fixed == {"training.optimizer.lr": 0.3}
    assert study.arms["cross_entropy"].searched == {"training.batch_size": batch_size}
    assert study.arms["avgk"].searched["training.optimizer.lr"] == Space(
        kind="uniform", low=0.05, high=1.0, default=0.5
    )
    assert study.arms["noised_topk_hinge"].searched["training.optimizer.lr"] == middle
    assert "lr" not in study.training["optimizer"]
    assert "batch_size" not in study.training


def test_an_arms_searched_training_value_starts_from_the_studys(read_text: Read, example: str) -> None:
    study = read_text(example, "arms.avgk.training.optimizer.lr={uniform: [0.01, 1]}")
    assert study.arms["avgk"].searched["training.optimizer.lr"].default == 0.05


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("  avgk:", "  avg_k:", f"9: arms.avg_k: unknown loss 'avg_k'. Did you mean 'avgk'? Known: {KNOWN_LOSSES}."),
        ("  avgk: {", "  mine: {loss: avg_k, ", f"9: arms.mine.loss: unknown loss 'avg_k'. Did you mean 'avgk'? Known: {KNOWN_LOSSES}."),
        ("  avgk: {", "  a/b: {loss: avgk, ", "9: arms.a/b: must be an arm's name of letters, digits, - and _, got 'a/b'."),
        ("  avgk: {", "  'mine:own': {", "9: arms.mine:own: must be an arm's name, a loss of your own being the arm's loss (own: {loss: \"mine:own\"}), got 'mine:own'."),
        ("  avgk: {alpha: {log_uniform: [0.1, 10]}}", "  avgk: 3", "9: arms.avgk: must be a mapping of hyperparameters, got 3."),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: -1", "9: arms.avgk.alpha: must be >= 0, got -1."),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: [1, 2]", "9: arms.avgk.alpha: must be a number >= 0, got [1, 2]."),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: {log_uniform: [10, 0.1]}", "9: arms.avgk.alpha: must be searched with low < high, got [10, 0.1]."),
        ("num_samples: 3", "num_sample: 3", "10: arms.noised_topk_hinge.num_sample: unknown hyperparameter 'num_sample'. Did you mean 'num_samples'? Known: epsilon, k, num_samples."),
        ("num_samples: 3", "num_sample: {int: [1, 3]}", "10: arms.noised_topk_hinge.num_sample: unknown hyperparameter 'num_sample'. Did you mean 'num_samples'? Known: epsilon, k, num_samples."),
        ("num_samples: 3", "num_samples: {uniform: [1, 3]}", "10: arms.noised_topk_hinge.num_samples: must be searched by int, log_int or choice, as it is a whole number, got 'uniform'."),
        ("num_samples: 3", "k: {int: [1, 3]}", "10: arms.noised_topk_hinge.k: must be a whole number >= 1, got {'int': [1, 3]}."),
        ("num_samples: 3", "training.epoch: 3", f"10: arms.noised_topk_hinge.training.epoch: unknown setting 'epoch'. Did you mean 'epochs'? Known: {', '.join(sorted(TRAINING))}."),
        ("num_samples: 3", "training.epoch: {int: [1, 3]}", f"10: arms.noised_topk_hinge.training.epoch: unknown setting 'epoch'. Did you mean 'epochs'? Known: {', '.join(sorted(TRAINING))}."),
        ("num_samples: 3", "training.optimizer: {lr: 1}", f"10: arms.noised_topk_hinge.training.optimizer: unknown setting 'optimizer'.{nearest('optimizer', TRAINING)} Known: {', '.join(sorted(TRAINING))}."),
        ("num_samples: 3", "training.epochs: 0", "10: arms.noised_topk_hinge.training.epochs: must be >= 1, got 0."),
        ("num_samples: 3", "training.gamma: default_space", "10: arms.noised_topk_hinge.training.gamma: must be given its range, as it has none of its own, got 'default_space'."),
        ("cross_entropy: {}", "cross_entropy: {k: 2}", "8: arms.cross_entropy.k: unknown hyperparameter 'k'. Known: none."),
    ],
)  # fmt: skip
def test_one_mistake_gives_one_error_with_its_line(mistake: Errors, before: str, after: str, message: str) -> None:
    assert mistake(before, after) == [f"study.yaml:{message}"]


def test_arms_may_be_a_list_of_losses_and_nothing_else(errors_of: Errors, example: str) -> None:
    head, tail = example.split("arms:\n")
    tail = tail.split("grid:")[1]
    tail = tail.replace("search:", "# search:").replace("compare: {baseline: cross_entropy, ", "compare: {")
    assert errors_of(f"{head}arms:\n  - avgk\n  - focl\n  - avgk\ngrid:{tail}") == [
        f"study.yaml:9: arms.focl: unknown loss 'focl'.{nearest('focl', LOSSES)} Known: {KNOWN_LOSSES}.",
        "study.yaml:10: arms: must name each loss once, got 'avgk' again.",
    ]
    for arms in ("all", "{}", "[]", "[1]"):
        [error] = errors_of(f"{head}arms: {arms}\ngrid:{tail}")
        assert error.startswith("study.yaml:7: arms: must be a mapping of losses to their hyperparameters, got ")
