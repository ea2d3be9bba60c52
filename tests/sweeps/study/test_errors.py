"""Every error of a study names file, line (or override), field, rule and value."""

# ruff: noqa: E501  # one mistake a line reads best, however long its message

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.data import DATASETS
from setsweep.losses import LOSSES
from setsweep.losses.values import nearest
from setsweep.sweeps.study.errors import StudyError
from setsweep.sweeps.study.reader import read_study
from setsweep.trainables.config.presets import PRESETS
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.models.table import MODELS

Errors = Callable[..., list[str]]

KNOWN_LOSSES = ", ".join(sorted(LOSSES))
FIELDS = "about, arms, compare, confirm, data, grid, k, model, resources, search, study, training"
METRICS = ", ".join(f"val/{rule}{k}_accuracy" for rule in ("avg", "macro_avg", "macro_top", "top") for k in (2, 3))
GRID = [f"data.{name}" for name in DATASETS["fashion_mnist"].settings] + [f"training.{path}" for path in TRAINING]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        # top
        ("study: fashion-losses", "study: fashion losses", "1: study: must be a name of letters, digits, - and _, got 'fashion losses'."),
        ("study: fashion-losses", "study: ../x", "1: study: must be a name of letters, digits, - and _, got '../x'."),
        ("study: fashion-losses", "study: 3", "1: study: must be a name of letters, digits, - and _, got 3."),
        ("study: fashion-losses\n", "", "1: study: must be given, got nothing."),
        ("about: Which loss gives the best pairs on Fashion-MNIST?", "about: [1]", "2: about: must be text, got [1]."),
        ("confirm:", "confrim:", f"13: confrim: unknown field 'confrim'. Did you mean 'confirm'? Known: {FIELDS}."),
        # data and model
        ("data: {name: fashion_mnist}", "data: fashion_mnist", "3: data: must be a mapping, got 'fashion_mnist'."),
        ("data: {name: fashion_mnist}", "data: {}", "3: data.name: must be a name, got None."),
        ("name: fashion_mnist", "name: fashion", f"3: data.name: unknown data set 'fashion'. Did you mean 'fashion_mnist'? Known: {', '.join(sorted(DATASETS))}."),
        ("name: fashion_mnist}", "name: digits, noise: 1}", "3: data.noise: unknown setting 'noise'. Did you mean 'label_noise'? Known: label_noise, split_seed."),
        ("name: fashion_mnist}", "name: digits, label_noise: 2}", "3: data.label_noise: must be between 0 and 1, got 2."),
        ("name: fashion_mnist}", "name: digits, label_noise: a lot}", "3: data.label_noise: must be a number between 0 and 1, got 'a lot'."),
        ("name: fashion_mnist}", "name: fashion_mnist, root: 3}", "3: data.root: must be text, got 3."),
        ("name: fashion_mnist}", "name: fashion_mnist, download: yes}", "3: data.download: must be true or false, got 'yes'."),
        ("name: small_cnn", "name: small_cn", f"4: model.name: unknown model 'small_cn'. Did you mean 'small_cnn'? Known: {', '.join(sorted(MODELS))}."),
        ("name: small_cnn}", "name: small_cnn, wdith: 3}", "4: model.wdith: unknown setting 'wdith'. Did you mean 'width'? Known: width."),
        ("name: small_cnn}", "name: small_cnn, width: 0}", "4: model.width: must be >= 1, got 0."),
        # training
        ("epochs: 10", "epochs: 0", "5: training.epochs: must be >= 1, got 0."),
        ("epochs: 10", "epochs: ten", "5: training.epochs: must be a whole number >= 1, got 'ten'."),
        ("epochs: 10", "epochs: 1.5", "5: training.epochs: must be a whole number >= 1, got 1.5."),
        ("epochs: 10", "epochs: .inf", "5: training.epochs: must be a whole number >= 1, got inf."),
        ("batch_size: 128", "batch_size: all", "5: training.batch_size: must be a whole number >= 1 or full, got 'all'."),
        ("batch_size: 128", "batch_size: 0", "5: training.batch_size: must be >= 1 or full, got 0."),
        ("lr: 0.05", "lr: 0", "5: training.optimizer.lr: must be > 0, got 0."),
        ("lr: 0.05", "lr: fast", "5: training.optimizer.lr: must be a number > 0, got 'fast'."),
        ("lr: 0.05", "lrr: 0.05", f"5: training.optimizer.lrr: unknown setting 'optimizer.lrr'. Did you mean 'optimizer.lr'? Known: {', '.join(sorted([*TRAINING, 'keep_lr_per_example', 'preset']))}."),
        ("name: sgd", "name: sdg", "5: training.optimizer.name: must be one of sgd, adam, adamw, got 'sdg'. Did you mean 'sgd'?"),
        ("momentum: 0.9, nesterov: true", "momentum: 1.0", "5: training.optimizer.momentum: must be >= 0 and < 1, got 1.0."),
        ("momentum: 0.9", "momentum: 0", "5: training.optimizer.nesterov: must be false without momentum, got True."),
        ("momentum: 0.9, nesterov: true", "betas: [0.8, 0.9]", "5: training.optimizer.betas: must be left out, since sgd has none, got (0.8, 0.9)."),
        ("name: sgd, lr: 0.05, momentum: 0.9, nesterov: true", "name: adam, momentum: 0.9", "5: training.optimizer.momentum: must be left out, since adam has none, got 0.9."),
        ("name: sgd, lr: 0.05, momentum: 0.9, nesterov: true", "name: adam, betas: [0.9]", "5: training.optimizer.betas: must be a list of 2, got [0.9]."),
        ("optimizer: {name: sgd, lr: 0.05, momentum: 0.9, nesterov: true}", "optimizer: sgd", "5: training.optimizer: must be a mapping, got 'sgd'."),
        ("milestones: [6, 8]", "milestones: [8, 6]", "5: training.milestones: must be ascending, got [8, 6]."),
        ("milestones: [6, 8]", "milestones: [6, 10]", "5: training.milestones: must be below training.epochs = 10, got 10."),
        ("milestones: [6, 8]", "milestones: 6", "5: training.milestones: must be a list, got 6."),
        ("milestones: [6, 8]", "milestones: [0]", "5: training.milestones: must be >= 1, got 0."),
        ("milestones: [6, 8]", "keep: first", "5: training.keep: must be one of best, last, got 'first'."),
        ("milestones: [6, 8]", "preset: sawada_circl", f"5: training.preset: unknown preset 'sawada_circl'. Did you mean 'sawada_circle'? Known: {', '.join(sorted(PRESETS))}."),
        ("milestones: [6, 8]", "preset: [sawada_circle]", f"5: training.preset: unknown preset ['sawada_circle']. Did you mean 'sawada_circle'? Known: {', '.join(sorted(PRESETS))}."),
        ("milestones: [6, 8]", "augment: {flipp: true}", f"5: training.augment.flipp: unknown setting 'augment.flipp'. Did you mean 'augment.flip'? Known: {', '.join(sorted([*TRAINING, 'keep_lr_per_example', 'preset']))}."),
        ("milestones: [6, 8]", "augment: {flip: {choice: [1, 2]}}", "5: training.augment.flip: must be true or false, got 1."),
        ("milestones: [6, 8]", "augment: flip", "5: training.augment: must be a mapping, got 'flip'."),
        ("milestones: [6, 8]", "warmup_epochs: 10", "5: training.warmup_epochs: must be below training.epochs = 10, got 10."),
        ("milestones: [6, 8]", "patience: 3, keep: last", "5: training.patience: must be null with training.keep = last, which waits for no best epoch, got 3."),
        ("milestones: [6, 8]", "keep_lr_per_example: 1", "5: training.keep_lr_per_example: must be true or false, got 1."),
        ("batch_size: 128", "batch_size: full, keep_lr_per_example: true", "5: training.keep_lr_per_example: must have a training.reference_batch_size where training.batch_size is full, got none."),
        ("batch_size: 128", "batch_size: {choice: [64, 128]}, keep_lr_per_example: true", "5: training.keep_lr_per_example: must have a training.reference_batch_size where training.batch_size is searched, got none."),
        ("lr: 0.05", "lr: {log_uniform: [0, 1]}", "5: training.optimizer.lr: must be searched with low > 0 on a log scale, got [0, 1]."),
        ("epochs: 10", "epochs: {int: [5, 10]}", "5: training.milestones: must be below training.epochs = 5, got 8."),
        # k
        ("k: [2, 3]", "k: [2, 10]", "6: k: must be between 1 and num_classes - 1 = 9, got 10."),
        ("k: [2, 3]", "k: [2, 3, 0]", "6: k: must be between 1 and num_classes - 1 = 9, got 0."),
        ("k: [2, 3]", "k: [3, 2]", "6: k: must be ascending, got [3, 2]."),
        ("k: [2, 3]", "k: [2, 2]", "6: k: must be ascending, got [2, 2]."),
        # arms
        ("  avgk:", "  avg_k:", f"9: arms.avg_k: unknown loss 'avg_k'. Did you mean 'avgk'? Known: {KNOWN_LOSSES}."),
        ("  avgk: {", "  mine: {loss: avg_k, ", f"9: arms.mine.loss: unknown loss 'avg_k'. Did you mean 'avgk'? Known: {KNOWN_LOSSES}."),
        ("  avgk: {", "  a/b: {loss: avgk, ", "9: arms.a/b: must be an arm's name of letters, digits, - and _, got 'a/b'."),
        ("  avgk: {alpha: {log_uniform: [0.1, 10]}}", "  avgk: 3", "9: arms.avgk: must be a mapping of hyperparameters, got 3."),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: -1", "9: arms.avgk.alpha: must be >= 0, got -1."),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: [1, 2]", "9: arms.avgk.alpha: must be a number >= 0, got [1, 2]."),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: {log_uniform: [10, 0.1]}", "9: arms.avgk.alpha: must be searched with low < high, got [10, 0.1]."),
        ("num_samples: 3", "num_sample: 3", "10: arms.noised_topk_hinge.num_sample: unknown hyperparameter 'num_sample'. Did you mean 'num_samples'? Known: epsilon, k, num_samples."),
        ("num_samples: 3", "num_sample: {int: [1, 3]}", "10: arms.noised_topk_hinge.num_sample: unknown hyperparameter 'num_sample'. Did you mean 'num_samples'? Known: epsilon, k, num_samples."),
        ("num_samples: 3", "num_samples: {uniform: [1, 3]}", "10: arms.noised_topk_hinge.num_samples: must be searched by int, log_int or choice, as it is a whole number, got 'uniform'."),
        ("num_samples: 3", "k: 10", "10: arms.noised_topk_hinge.k: must be between 1 and num_classes - 1 = 9, got 10."),
        ("num_samples: 3", "k: {int: [1, 3]}", "10: arms.noised_topk_hinge.k: must be a whole number >= 1, got {'int': [1, 3]}."),
        ("num_samples: 3", "training.epoch: 3", f"10: arms.noised_topk_hinge.training.epoch: unknown setting 'epoch'. Did you mean 'epochs'? Known: {', '.join(sorted(TRAINING))}."),
        ("num_samples: 3", "training.epochs: 0", "10: arms.noised_topk_hinge.training.epochs: must be >= 1, got 0."),
        ("num_samples: 3", "training.gamma: default_space", "10: arms.noised_topk_hinge.training.gamma: must be given its range, as it has none of its own, got 'default_space'."),
        ("cross_entropy: {}", "cross_entropy: {k: 2}", "8: arms.cross_entropy.k: unknown hyperparameter 'k'. Known: none."),
        # grid
        ("data.label_noise: [0.0, 0.2]", "data.label_nois: [0]", "11: grid.data.label_nois: unknown grid field 'data.label_nois'. Did you mean 'data.label_noise'? Known: " + ", ".join(sorted(["model.width", *GRID])) + "."),
        ("[0.0, 0.2]", "0.2", "11: grid.data.label_noise: must be a list of values, got 0.2."),
        ("[0.0, 0.2]", "[]", "11: grid.data.label_noise: must be a list of values, got []."),
        ("[0.0, 0.2]", "[0.0, 0]", "11: grid.data.label_noise: must be a list of distinct values, got 0 again."),
        ("[0.0, 0.2]", "[0.0,\n  2]", "12: grid.data.label_noise: must be between 0 and 1, got 2."),
        ("data.label_noise: [0.0, 0.2]", "data.name: [digits, circle]", "11: grid.data.name: must be the same in all of a study, got ['digits', 'circle']."),
        ("data.label_noise: [0.0, 0.2]", "training.epochs: [10, 0]", "11: grid.training.epochs: must be >= 1, got 0."),
        ("data.label_noise: [0.0, 0.2]", "training.epochs: [10, 7]", "5: training.milestones: must be below training.epochs = 7, got 8."),
        ("data.label_noise: [0.0, 0.2]", "training.milestones: [[6], [11]]", "11: grid.training.milestones: must be below training.epochs = 10, got 11."),
        # search
        ("trials: 12", "trials: 0", "12: search.trials: must be >= 1, got 0."),
        ("trials: 12", "trails: 12", "12: search.trails: unknown field 'trails'. Did you mean 'trials'? Known: asynchronous, batch, objective, sampler, seeds, trials."),
        ("sampler: tpe", "sampler: tp", "12: search.sampler: must be one of tpe, random, qmc, grid, gp, got 'tp'. Did you mean 'tpe'?"),
        ("val/avg2_accuracy", "test/avg2_accuracy", "12: search.objective: must be a validation metric, as a choice made on test data spoils them, got 'test/avg2_accuracy'."),
        ("val/avg2_accuracy", "val/avg2_acc", f"12: search.objective: unknown validation metric 'val/avg2_acc'. Did you mean 'val/avg2_accuracy'? Known: {METRICS}."),
        ("val/avg2_accuracy", "val/top5_accuracy", f"12: search.objective: unknown validation metric 'val/top5_accuracy'. Did you mean 'val/top3_accuracy'? Known: {METRICS}."),
        ("seeds: 2}", "seeds: 0}", "12: search.seeds: must be between 1 and 1000, got 0."),
        ("seeds: 2}", "seeds: [1, 1]}", "12: search.seeds: must be distinct seeds, got [1, 1]."),
        ("seeds: 2}", "seeds: [-1]}", "12: search.seeds: must be between 0 and 9223372036854775807, got -1."),
        ("seeds: 2}", "seeds: many}", "12: search.seeds: must be a number of seeds or a list of them, got 'many'."),
        ("seeds: 2}", "batch: 0}", "12: search.batch: must be >= 1, got 0."),
        ("seeds: 2}", "asynchronous: true}", "12: search.asynchronous: must be false, as asynchronous search is not supported yet, got True."),
        # confirm, compare, resources
        ("seeds: 5", "seeds: [1001, 1002]", "13: confirm.seeds: must be fresh, none of those of the search, got [1001] in both."),
        ("confirm: {seeds: 5}", "confirm: 5", "13: confirm: must be a mapping, got 5."),
        ("baseline: cross_entropy", "baseline: ce", "14: compare.baseline: unknown arm 'ce'. Known: avgk, cross_entropy, noised_topk_hinge."),
        ("confidence: 0.95", "confidence: 95", "14: compare.confidence: must be > 0 and < 1, got 95."),
        ("correction: holm", "correction: holms", "14: compare.correction: must be one of holm, bonferroni, none, got 'holms'. Did you mean 'holm'?"),
        ("correction: holm", "metrics: test/top2_accuracy", "14: compare.metrics: must be a list, got 'test/top2_accuracy'."),
        ("correction: holm", "metrics: []", "14: compare.metrics: must be one metric or more, each once, got []."),
        ("cpus: 1", "cpus: 0", "15: resources.cpus: must be > 0, got 0."),
        ("gpus: 0", "gpus: -1", "15: resources.gpus: must be >= 0 or auto, got -1."),
        ("gpus: 0", "gpu: 1", "15: resources.gpu: unknown field 'gpu'. Did you mean 'gpus'? Known: cpus, gpus, seeds_per_worker."),
    ],
)  # fmt: skip
def test_one_mistake_gives_one_error_with_its_line(
    errors_of: Errors, example: str, before: str, after: str, message: str
) -> None:
    assert example.count(before) == 1
    assert errors_of(example.replace(before, after)) == [f"study.yaml:{message}"]


def test_every_arm_whose_loss_takes_no_mixed_labels_is_told(errors_of: Errors, example: str) -> None:
    assert errors_of(example, "training.augment.mixup=0.2") == [
        "--set training.augment.mixup=0.2: training.augment.mixup: must be 0 with avgk, which takes no soft labels, got 0.2.",
        "--set training.augment.mixup=0.2: training.augment.mixup: must be 0 with noised_topk_hinge, which takes no soft labels, got 0.2.",
    ]


def test_an_unknown_metric_to_compare_gives_the_nearest(errors_of: Errors, example: str) -> None:
    [error] = errors_of(example, "compare.metrics=[test/avg2_acuracy]")
    assert error.startswith(
        "--set compare.metrics=[test/avg2_acuracy]: compare.metrics: unknown test metric 'test/avg2_acuracy'. "
        "Did you mean 'test/avg2_accuracy'? Known: test/avg2_accuracy, "
    )


def test_a_search_without_candidates_is_refused(errors_of: Errors, example: str) -> None:
    text = example.replace("  avgk: {alpha: {log_uniform: [0.1, 10]}}\n", "").replace("{log_uniform: [0.01, 10]}", "1")
    assert errors_of(text) == [
        "study.yaml:11: search: has no candidates: no value of the arms or of training is searched."
    ]


def test_something_to_search_without_a_search_is_refused_at_the_arm(errors_of: Errors, example: str) -> None:
    assert errors_of(example.replace("\nsearch:", "\n# search:")) == [
        "study.yaml:9: arms.avgk.alpha: must be a fixed value in a study without a search, got log_uniform.",
        "study.yaml:10: arms.noised_topk_hinge.epsilon: must be a fixed value in a study without a search, "
        "got log_uniform.",
    ]


def test_a_searched_training_value_without_a_search_is_told_once(errors_of: Errors, example: str) -> None:
    text = example.replace("{log_uniform: [0.1, 10]}", "1").replace("{log_uniform: [0.01, 10]}", "1")
    text = text.replace("\nsearch:", "\n# search:").replace("lr: 0.05", "lr: {uniform: [0.01, 1]}")
    assert errors_of(text) == [
        "study.yaml:5: training.optimizer.lr: must be a fixed value in a study without a search, got uniform."
    ]


def test_the_grid_sampler_needs_finite_spaces_of_bearable_size(errors_of: Errors, example: str) -> None:
    text = example.replace("sampler: tpe", "sampler: grid").replace("{log_uniform: [0.01, 10]}", "{int: [1, 20000]}")
    assert errors_of(text) == [
        "study.yaml:9: arms.avgk.alpha: must be int, log_int or choice for the grid sampler, got log_uniform.",
        "study.yaml:10: arms.noised_topk_hinge: must have at most 10000 combinations for the grid sampler, got 20000.",
    ]


def test_a_value_is_in_the_grid_or_elsewhere(errors_of: Errors, example: str) -> None:
    text = example.replace("data.label_noise: [0.0, 0.2]", "training.gamma: [0.1, 0.2], training.batch_size: [32, 64]")
    text = text.replace("num_samples: 3", "training.gamma: 0.5").replace("epochs: 10", "epochs: 10, evaluate_every: 1")
    text = text.replace("batch_size: 128", "batch_size: {choice: [32, 64]}")
    assert errors_of(text) == [
        "study.yaml:10: arms.noised_topk_hinge.training.gamma: must be left to the grid, which has it too.",
        "study.yaml:11: grid.training.batch_size: must be searched or in the grid, got both.",
    ]


def test_k_is_checked_at_every_point_of_the_grid(errors_of: Errors, example: str) -> None:
    text = example.replace("name: fashion_mnist", "name: circle").replace("name: small_cnn", "name: linear")
    text = text.replace("data.label_noise: [0.0, 0.2]", "data.classes: [6, 3]")
    assert errors_of(text) == ["study.yaml:6: k: must be between 1 and num_classes - 1 = 2, got 3."]


def test_a_grid_has_a_bearable_number_of_points(errors_of: Errors, example: str) -> None:
    text = example.replace(
        "data.label_noise: [0.0, 0.2]",
        f"data.split_seed: {list(range(40))}, training.evaluate_every: {list(range(1, 41))}",
    )
    assert errors_of(text) == ["study.yaml:11: grid: must have at most 1000 points, got 1600."]


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


def test_all_errors_are_told_at_once_in_the_order_of_the_file(errors_of: Errors, example: str) -> None:
    text = example.replace("epochs: 10", "epochs: 0").replace("avgk:", "avg_k:").replace("cpus: 1", "cpus: 0")
    errors = errors_of(text.replace("k: [2, 3]", "k: [2, 30]").replace("trials: 12", "trials: x"), "model.width=0")
    assert [error.split(": must")[0].split(": unknown")[0] for error in errors] == [
        "--set model.width=0: model.width",
        "study.yaml:5: training.epochs",
        "study.yaml:6: k",
        "study.yaml:9: arms.avg_k",
        "study.yaml:12: search.trials",
        "study.yaml:15: resources.cpus",
    ]


def test_an_error_in_an_override_names_the_override(errors_of: Errors, example: str) -> None:
    assert errors_of(example, "training.epochs=0") == ["--set training.epochs=0: training.epochs: must be >= 1, got 0."]
    assert errors_of(example, "arms.avgk.alpha=-1") == [
        "--set arms.avgk.alpha=-1: arms.avgk.alpha: must be >= 0, got -1."
    ]
    assert errors_of(example, "trainng.epochs=1") == [
        f"--set trainng.epochs=1: trainng: unknown field 'trainng'. Did you mean 'training'? Known: {FIELDS}."
    ]


def test_overridden_milestones_must_fit_the_epochs(errors_of: Errors, example: str) -> None:
    assert errors_of(example, "training.epochs=3", "training.milestones=[2, 3]") == [
        "--set training.milestones=[2, 3]: training.milestones: must be below training.epochs = 3, got 3."
    ]


def test_a_bundled_study_is_named_as_a_file_in_errors() -> None:
    with pytest.raises(StudyError) as caught:
        read_study("demo", ["data.classes=2"])
    assert caught.value.errors[0].startswith("sweeps/studies/demo.yaml:")
    assert caught.value.errors[0].endswith(": k: must be between 1 and num_classes - 1 = 1, got 2.")
