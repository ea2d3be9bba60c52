"""How a study chooses and reports: search, confirmation, comparisons and resources."""

# ruff: noqa: E501  # one mistake a line reads best, however long its message

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from setsweep.sweeps.study.parts import Resources
from setsweep.sweeps.study.protocol import seeds_rule
from setsweep.sweeps.study.study import Pruner, Search, Study
from setsweep.sweeps.study.text.errors import StudyError

Errors = Callable[..., list[str]]
Read = Callable[..., Study]

SMALL = "study: small\ndata: {name: digits}\nmodel: {name: linear}\nk: 2\narms: [cross_entropy]\n"
METRICS = ", ".join(f"val/{rule}{k}_accuracy" for rule in ("avg", "macro_avg", "macro_top", "top") for k in (2, 3))


@pytest.mark.parametrize(
    ("search", "confirm", "expected"),
    [
        ("3", "2", ((1000, 1001, 1002), (0, 1))),
        ("[7, 5]", "[8, 1]", ((7, 5), (8, 1))),
    ],
)
def test_seeds_are_a_number_or_a_list(read_text: Read, example: str, search: str, confirm: str, expected: Any) -> None:
    study = read_text(example, f"search.seeds={search}", f"confirm.seeds={confirm}")
    assert study.search
    assert (study.search.seeds, study.confirm_seeds) == expected


def test_metrics_to_compare_can_be_chosen(read_text: Read, example: str) -> None:
    metrics = "[test/macro_avg3_accuracy, test/macro_top2_accuracy_few, test/avg2_set_size]"
    assert read_text(example, f"compare.metrics={metrics}").compare.metrics == tuple(metrics.strip("[]").split(", "))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{}", Resources(cpus=1, gpus=0, seeds_per_worker=1)),
        ("{cpus: 4, gpus: 0.25}", Resources(cpus=4, gpus=0.25)),
        ("{gpus: 2}", Resources(gpus=2)),
        ("{gpus: auto, seeds_per_worker: auto}", Resources(gpus="auto", seeds_per_worker="auto")),
        ("{seeds_per_worker: 8}", Resources(seeds_per_worker=8)),
    ],
)
def test_resources_are_numbers_or_measured(read_text: Any, example: str, given: str, expected: Resources) -> None:
    assert read_text(example.replace("{cpus: 1, gpus: 0}", given)).resources == expected


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("trials: 12", "trials: 0", "12: search.trials: must be >= 1, got 0."),
        ("val/avg2_accuracy", "test/avg2_accuracy", "12: search.objective: must be a validation metric, as a choice made on test data spoils them, got 'test/avg2_accuracy'."),
        ("val/avg2_accuracy", "val/avg2_acc", f"12: search.objective: unknown validation metric 'val/avg2_acc'. Did you mean 'val/avg2_accuracy'? Known: {METRICS}."),
        ("val/avg2_accuracy", "val/top5_accuracy", f"12: search.objective: unknown validation metric 'val/top5_accuracy'. Did you mean 'val/top3_accuracy'? Known: {METRICS}."),
        ("seeds: 2}", "seeds: 0}", "12: search.seeds: must be between 1 and 1000, got 0."),
        ("seeds: 2}", "seeds: [1, 1]}", "12: search.seeds: must be distinct seeds, got [1, 1]."),
        ("seeds: 2}", "seeds: [-1]}", "12: search.seeds: must be between 0 and 9223372036854775807, got -1."),
        ("seeds: 2}", "seeds: many}", "12: search.seeds: must be a number of seeds or a list of them, got 'many'."),
        ("seeds: 2}", "batch: 0}", "12: search.batch: must be >= 1, got 0."),
        ("trials: 12", "trails: 12", "12: search.trails: unknown field 'trails'. Did you mean 'trials'? Known: asynchronous, batch, front, objective, pruner, race, sampler, seeds, trials."),
        ("sampler: tpe", "sampler: tp", "12: search.sampler: must be one of auto, gp, tpe, qmc, random, grid, cmaes, nsga2, got 'tp'. Did you mean 'tpe'?"),
        ("seeds: 2}", "seeds: 2, race: {seeds: 2}}", "12: search.race.seeds: must be > the 2 that every trial has (search.seeds), got 2."),
        ("seeds: 2}", "seeds: 2, race: 9}", "12: search.race: must be a mapping, got 9."),
        ("seeds: 2}", "seeds: 2, race: {seds: 9}}", "12: search.race.seds: unknown field 'seds'. Did you mean 'seeds'? Known: least, seeds."),
        ("seeds: 2}", "seeds: 2, pruner: medan}", "12: search.pruner: must be one of median, successive_halving, got 'medan'. Did you mean 'median'?"),
        ("seeds: 2}", "seeds: 2, pruner: {startup: 3}}", "12: search.pruner.name: must be given, one of median, successive_halving, got nothing."),
        ("seeds: 2}", "seeds: 2, pruner: {name: median, warmup: -1}}", "12: search.pruner.warmup: must be >= 0, got -1."),
        ("seeds: 2}", "seeds: 2, pruner: {name: median, wormup: 1}}", "12: search.pruner.wormup: unknown field 'wormup'. Did you mean 'warmup'? Known: factor, name, startup, warmup."),
        ("seeds: 2}", "seeds: 2, pruner: median, race: {}}", "12: search.pruner: must be left out with a race, which gives up trials by their seeds."),
        ("seeds: 2}", "seeds: 2, pruner: median, asynchronous: true}", "12: search.pruner: must be left out with search.asynchronous, which has no batches to follow from."),
        ("val/avg2_accuracy, seeds: 2", "[val/avg2_accuracy, val/avg3_accuracy], pruner: median", "12: search.pruner: must be left out with several objectives, of which none says who is behind."),
        ("sampler: tpe", "sampler: nsga2", "12: search.sampler: must be another where there is one objective, got 'nsga2'."),
        ("sampler: tpe", "sampler: cmaes, asynchronous: true", "12: search.asynchronous: must be false with cmaes, whose batches are its generations, got true."),
        ("sampler: tpe", "sampler: cmaes, batch: 3", "12: search.batch: must be >= 4 with cmaes, whose batches are its generations, got 3."),
        ("val/avg2_accuracy", "[]", "12: search.objective: must be one metric or more, each once, got []."),
        ("val/avg2_accuracy", "[val/avg2_accuracy, val/avg2_accuracy]", "12: search.objective: must be one metric or more, each once, got ['val/avg2_accuracy', 'val/avg2_accuracy']."),
        ("val/avg2_accuracy", "[val/avg2_set_size, val/avg2_accuracy]", "12: search.objective: must begin with an accuracy, which says what is best of one, got 'val/avg2_set_size'."),
        ("val/avg2_accuracy, seeds: 2", "[val/avg2_accuracy, val/avg3_accuracy], race: {}", "12: search.race: must be left out with several objectives, of which none says who is ahead."),
        ("sampler: tpe, objective: val/avg2_accuracy", "sampler: cmaes, objective: [val/avg2_accuracy, val/top2_accuracy]", "12: search.sampler: must be one of auto, gp, tpe, qmc, random, grid, nsga2 with several objectives, got 'cmaes'."),
        ("seeds: 5", "seeds: [1001, 1002]", "13: confirm.seeds: must be fresh, none of those of the search, got [1001] in both."),
        ("confirm: {seeds: 5}", "confirm: 5", "13: confirm: must be a mapping, got 5."),
        ("seeds: 5", "half_width: 0", "13: confirm.half_width: must be > 0 and < 50 or null, got 0."),
        ("seeds: 5", "half_width: 0, pilot: 8, max: 9", "13: confirm.half_width: must be > 0 and < 50 or null, got 0."),
        ("seeds: 5", "seeds: 5, half_width: 0.3", "13: confirm.seeds: must be left out with confirm.half_width, which says how many, got 5."),
        ("seeds: 5", "half_width: 0.3, pilot: 8, max: 7", "13: confirm.max: must be >= confirm.pilot = 8, got 7."),
        ("seeds: 5", "pilot: 8", "13: confirm.pilot: must be left out without confirm.half_width, got 8."),
        ("baseline: cross_entropy", "baseline: ce", "14: compare.baseline: unknown arm 'ce'. Known: avgk, cross_entropy, noised_topk_hinge."),
        ("confidence: 0.95", "confidence: 95", "14: compare.confidence: must be > 0 and < 1, got 95."),
        ("correction: holm", "correction: holms", "14: compare.correction: must be one of holm, bonferroni, none, got 'holms'. Did you mean 'holm'?"),
        ("correction: holm", "metrics: test/top2_accuracy", "14: compare.metrics: must be a list, got 'test/top2_accuracy'."),
        ("correction: holm", "metrics: []", "14: compare.metrics: must be one metric or more, each once, got []."),
        ("cpus: 1", "cpus: 0", "15: resources.cpus: must be > 0, got 0."),
        ("gpus: 0", "gpu: 1", "15: resources.gpu: unknown field 'gpu'. Did you mean 'gpus'? Known: cpus, gpus, max_slots, priority, seeds_per_worker, share."),
        ("gpus: 0", "share: 0", "15: resources.share: must be between 0.01 and 100, got 0."),
        ("gpus: 0", "priority: 1.5", "15: resources.priority: must be a whole number between -100 and 100, got 1.5."),
    ],
)  # fmt: skip
def test_one_mistake_gives_one_error_with_its_line(mistake: Errors, before: str, after: str, message: str) -> None:
    assert mistake(before, after) == [f"study.yaml:{message}"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("median", Pruner(name="median", startup=8, warmup=1, factor=3)),
        ("{name: successive_halving, factor: 2, warmup: 3}", Pruner(name="successive_halving", factor=2, warmup=3)),
        ("null", None),
    ],
)
def test_a_pruner_is_a_name_or_a_name_with_its_settings(
    read_text: Read, example: str, given: str, expected: Pruner | None
) -> None:
    study, plain = read_text(example, f"search.pruner={given}"), read_text(example)
    assert study.search
    assert plain.search
    assert study.search.pruner == expected
    assert (study.search.protocol() == plain.search.protocol()) == (expected is None)


def test_a_search_that_says_nothing_has_every_default(read_text: Read, example: str) -> None:
    assert read_text(example, "search={}").search == Search(
        trials=20, sampler="auto", objective="val/avg2_accuracy", seeds=(1000,), batch=4
    )


def test_a_confirmation_may_use_the_first_seeds_of_a_search_that_there_is_not(read_text: Read, example: str) -> None:
    fixed = "arms={cross_entropy: {}, focal: {}}"
    study = read_text(example, fixed, "search=null", "confirm.seeds=[1000, 1001]")
    assert (study.search, study.confirm_seeds) == (None, (1000, 1001))


@pytest.mark.parametrize(
    ("arms", "baseline"), [("[focal, cross_entropy]", "cross_entropy"), ("[focal, ldam]", "focal")]
)
def test_the_baseline_is_cross_entropy_or_else_the_first_arm(
    read_text: Read, example: str, arms: str, baseline: str
) -> None:
    assert read_text(example, f"arms={arms}", "search=null", "compare={}").compare.baseline == baseline


def test_a_baseline_that_is_an_arm_with_an_error_is_no_error_of_its_own(mistake: Errors, example: str) -> None:
    [error] = mistake("cross_entropy: {}", "cross_entropy: {gamma: 1}")
    assert error.startswith("study.yaml:8: arms.cross_entropy.gamma: unknown hyperparameter 'gamma'.")


def test_so_many_seeds_are_bearable_and_no_more() -> None:
    assert seeds_rule(1000).check(1000) == tuple(range(1000, 2000))
    with pytest.raises(ValueError, match=r"^must be between 1 and 1000, got 1001\.$"):
        seeds_rule(1000).check(1001)
    with pytest.raises(ValueError, match=r"^must be a number of seeds or a list of them, got \[\]\.$"):
        seeds_rule(0).check([])


def test_an_unknown_metric_to_compare_gives_the_nearest(errors_of: Errors, example: str) -> None:
    [error] = errors_of(example, "compare.metrics=[test/avg2_acuracy]")
    assert error.startswith(
        "--set compare.metrics=[test/avg2_acuracy]: compare.metrics: unknown test metric 'test/avg2_acuracy'. "
        "Did you mean 'test/avg2_accuracy'? Known: test/avg2_accuracy, "
    )


def test_a_search_without_candidates_is_refused(errors_of: Errors, example: str) -> None:
    text = example.replace("  avgk: {alpha: {log_uniform: [0.1, 10]}}\n", "").replace("{log_uniform: [0.01, 10]}", "1")
    assert errors_of(text) == [
        "study.yaml:11: search: has no candidates: no value of the arms, of data, model or training is searched."
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


def test_the_grid_sampler_takes_as_many_combinations_as_are_bearable(read_text: Read, example: str) -> None:
    text = example.replace("trials: 12, sampler: tpe", "sampler: grid")
    text = text.replace("{log_uniform: [0.1, 10]}", "{choice: [1, 2]}")
    text = text.replace("{log_uniform: [0.01, 10]}, num_samples: 3", "0.1, num_samples: {int: [1, 10000]}")
    assert read_text(text).arms["noised_topk_hinge"].searched["loss.num_samples"].size == 10_000


def test_the_grid_sampler_needs_finite_spaces_of_bearable_size(errors_of: Errors, example: str) -> None:
    text = example.replace("sampler: tpe", "sampler: grid").replace("{log_uniform: [0.01, 10]}", "{int: [1, 20000]}")
    assert errors_of(text) == [
        "study.yaml:9: arms.avgk.alpha: must be int, log_int or choice for the grid sampler, got log_uniform.",
        "study.yaml:10: arms.noised_topk_hinge: must have at most 10000 combinations for the grid sampler, got 20000.",
    ]


@pytest.mark.parametrize(
    "override",
    [
        "training.device=cuda",
        "training.device={choice: [cpu, cuda]}",
        "arms.focal={training.device: cuda}",
        "arms.focal={training.device: {choice: [cpu, cuda]}}",
        "grid={training.device: [cpu, cuda]}",
    ],
)
def test_a_run_on_cuda_must_be_given_a_gpu(read_text: Read, errors_of: Errors, example: str, override: str) -> None:
    [error] = errors_of(example, override)
    assert error.endswith(": resources.gpus: must be > 0 or auto where training.device is cuda, got 0.")
    for gpus in (0.5, "auto"):
        assert read_text(example, override, f"resources.gpus={gpus}").resources.gpus == gpus


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{gpus: -1}", "resources.gpus: must be >= 0 or auto, got -1."),
        ("{gpus: 1.5}", "resources.gpus: must be <= 1 or whole or auto, got 1.5."),
        ("{gpus: some}", "resources.gpus: must be a number >= 0 or auto, got 'some'."),
        ("{seeds_per_worker: 0}", "resources.seeds_per_worker: must be >= 1 or auto, got 0."),
        ("{seeds_per_worker: 1.5}", "resources.seeds_per_worker: must be a whole number >= 1 or auto, got 1.5."),
        ("{cpus: auto}", "resources.cpus: must be a number > 0, got 'auto'."),
        ("{seed_per_worker: 2}", "Did you mean 'seeds_per_worker'?"),
    ],
)
def test_resources_that_are_neither_are_refused(read_text: Any, example: str, given: str, message: str) -> None:
    with pytest.raises(StudyError) as refused:
        read_text(example.replace("{cpus: 1, gpus: 0}", given))
    assert message in str(refused.value)


def test_a_search_can_be_raced_and_a_confirmation_be_to_a_precision(read_text: Read, example: str) -> None:
    text = example.replace("sampler: tpe, ", "").replace("seeds: 2}", "race: {seeds: 9}}")
    study = read_text(text.replace("{seeds: 5}", "{half_width: 0.3, pilot: 4, max: 20}"))
    assert study.search == Search(trials=12, sampler="auto", objective="val/avg2_accuracy", seeds=(1000,), race=9)
    assert study.confirm_seeds == (0, 1, 2, 3)
    assert (study.confirm.default, study.confirm.most) == (True, 20)
    assert study.confirm.half_width == pytest.approx(0.003)
    assert study.primary == "test/avg2_accuracy"


def test_several_objectives_are_a_list_and_set_sizes_among_them(read_text: Read, example: str) -> None:
    study = read_text(example, "search.objective=[val/avg2_accuracy, val/top2_accuracy, val/avg3_set_size]")
    assert study.search
    assert study.search.objectives == ("val/avg2_accuracy", "val/top2_accuracy", "val/avg3_set_size")


def test_a_grid_is_tried_whole_and_says_so_where_fewer_are_asked_for(
    read_text: Read, errors_of: Callable[..., list[str]]
) -> None:
    text = SMALL.replace("[cross_entropy]", "{avgk: {alpha: {choice: [1, 2, 3]}, training.epochs: {int: [1, 2]}}}")
    study = read_text(f"{text}search: {{sampler: grid}}\n")
    assert study.search
    assert study.search.trials_of(study.arms["avgk"]) == 6
    [error] = errors_of(f"{text}search: {{sampler: grid, trials: 5}}\n")
    whole = "the 6 combinations of avgk, as a grid is tried whole"
    assert error == f"study.yaml:6: search.trials: must be left out or >= {whole}, got 5."


def test_a_sampler_of_ranges_refuses_a_choice(read_text: Read, errors_of: Callable[..., list[str]]) -> None:
    text = SMALL.replace("[cross_entropy]", "{avgk: {alpha: {choice: [1, 2, 3]}}}")
    assert errors_of(f"{text}search: {{sampler: cmaes}}\n") == [
        "study.yaml:5: arms.avgk.alpha: must be a range for the cmaes sampler, which knows no choices, got choice."
    ]


def test_an_asynchronous_search_says_what_it_gives_up(read_text: Read, example: str) -> None:
    [note] = read_text(example, "search.asynchronous=true").notes
    assert note.startswith("search.asynchronous: suggestions depend on which runs finished first")
