"""The JSON schema takes the studies that are read, and refuses others at the place of the mistake."""

# ruff: noqa: E501  # one mistake a line reads best

from __future__ import annotations

from collections.abc import Callable

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.protocols import Validator

from setsweep.sweeps.study.reader import FIELDS
from setsweep.sweeps.study.schema.study import study_schema
from setsweep.sweeps.study.study import Study
from setsweep.sweeps.study.text.errors import StudyError
from setsweep.sweeps.study.text.source import bundled_studies, open_study
from setsweep.trainables.config.run_config import TRAINING
from setsweep.trainables.config.sections import TABLES, declared_settings
from setsweep.trainables.settings.yaml_text import read_yaml

Read = Callable[..., Study]


def test_the_schema_is_one_for_language_servers_of_today_and_of_yesterday() -> None:
    Draft202012Validator.check_schema(study_schema())
    Draft7Validator.check_schema(study_schema())


def test_the_schema_has_the_fields_of_a_study() -> None:
    assert set(study_schema()["properties"]) == set(FIELDS)


def test_an_editor_can_say_what_every_setting_does() -> None:
    known = study_schema()["$defs"]
    described = {path: known[path]["description"] for path in known if path.startswith("training.")}
    assert described["training.optimizer.lr"] == "learning rate (a number > 0; default 0.1)"
    assert described["training.epochs"] == "passes over the training split (a whole number >= 1; in epochs; default 10)"
    assert set(described) == {f"training.{path}" for path in TRAINING}
    assert known["loss.avgk"]["properties"]["alpha"]["description"].endswith(
        ' (a number >= 0; default 1.0; default_space {"log_uniform": [0.1, 10.0]})'
    )
    for section in TABLES:
        for name in TABLES[section]:
            for key, setting in declared_settings(section, {"name": name}).items():
                field = known[f"{section}.{name}"]["properties"][key]
                shown = known.get(field.get("$ref", "").removeprefix("#/$defs/"), field)["description"]
                assert shown.startswith(f"{setting.about} ({setting.rule.words}")


@pytest.mark.parametrize("name", bundled_studies())
@pytest.mark.parametrize("draft", [Draft202012Validator, Draft7Validator])
def test_bundled_studies_validate(name: str, draft: type[Validator]) -> None:
    assert [error.message for error in draft(study_schema()).iter_errors(read_yaml(open_study(name)[0])[0])] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("{name: fashion_mnist}", "{name: fashion_mnist, root: /data, download: true, subset: 1000, label_noise: 0}"),
        ("{name: fashion_mnist}", "{name: 'my.package:data', size: [1, {a: null}], label_noise: 1, root: /data}"),
        ("{name: small_cnn}", "{name: 'mine:net', root: 3, deep: {a: [b]}}"),
        ("{name: small_cnn}", "{name: resnet18, pretrained: /weights.pt, stem: small}"),
        ("batch_size: 128", "batch_size: full"),
        ("batch_size: 128", "batch_size: {choice: [64, full], default: 64}, reference_batch_size: 64, keep_lr_per_example: true"),
        ("lr: 0.05", "lr: {log_uniform: [1e-3, 1], default: 0.1}"),
        ("optimizer: {name: sgd, lr: 0.05, momentum: 0.9, nesterov: true}", "optimizer: null"),
        ("milestones: [6, 8]", "augment: {flip: {choice: [true, false]}, cutout: {int: [0, 8]}}"),
        ("milestones: [6, 8]", "preset: sawada_cifar100_cutout, augment: null"),
        ("milestones: [6, 8]", "preset: null, threshold_scores: null, clip_norm: null, milestones: []"),
        ("k: [2, 3]", "k: [2.0, 5]"),
        ("  avgk: {", "  mild: {loss: avgk, k: 3, training.optimizer.lr: {uniform: [0.1, 1]}, training.gamma: 0.5, "),
        ("  avgk: {alpha: {log_uniform: [0.1, 10]}}", "  avgk: {loss: ldam, scale: default_space}"),
        ("num_samples: 3", "num_samples: {log_int: [1, 50]}"),
        ("cross_entropy: {}", "cross_entropy:"),
        ("data.label_noise: [0.0, 0.2]", "training.milestones: [[6], [6, 8]], model.width: [8], training.augment.flip: [true, false]"),
        ("grid: {data.label_noise: [0.0, 0.2]} ", "grid: {}"),
        ("seeds: 2}", "seeds: [7, 5], batch: 2, asynchronous: false}"),
        ("confirm: {seeds: 5} ", "confirm:"),
        ("compare: {", "compare: {metrics: [test/macro_avg3_accuracy_few, test/avg2_set_size], "),
        ("{cpus: 1, gpus: 0}", "{cpus: 0.5, gpus: auto, seeds_per_worker: 3}"),
        ("{cpus: 1, gpus: 0}", "{gpus: 2}"),
    ],
)  # fmt: skip
def test_legal_studies_validate(read_text: Read, validator: Validator, example: str, before: str, after: str) -> None:
    assert before in example
    text = example.replace(before, after)
    read_text(text)
    assert [error.message for error in validator.iter_errors(read_yaml(text)[0])] == []


def test_arms_may_be_a_list_of_losses(read_text: Read, validator: Validator) -> None:
    for arms in ("[avgk, focal]", "[avgk]", "[]", "[avgk, avgk]", "[avg_k]", "[null]", "avgk", "{}", "null"):
        text = f"study: s\ndata: {{name: digits}}\nmodel: {{name: linear}}\nk: 2\narms: {arms}\n"
        try:
            legal = bool(read_text(text))
        except StudyError:
            legal = False
        assert legal == (arms in ("[avgk, focal]", "[avgk]"))
        assert validator.is_valid(read_yaml(text)[0]) == legal


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        # top
        ("study: fashion-losses", "study: fashion losses", "study"),
        ("study: fashion-losses", "study: 3", "study"),
        ("study: fashion-losses\n", "", ""),
        ("about: Which loss gives the best pairs on Fashion-MNIST?", "about: [1]", "about"),
        ("confirm:", "confrim:", ""),
        # data and model
        ("data: {name: fashion_mnist}", "data: fashion_mnist", "data"),
        ("data: {name: fashion_mnist}", "data: {}", "data"),
        ("data: {name: fashion_mnist}", "data:", "data"),
        ("name: fashion_mnist", "name: fashion", "data.name"),
        ("name: fashion_mnist", "name: 'my data:f'", "data.name"),
        ("name: fashion_mnist}", "name: digits, subset: 100}", "data"),
        ("name: fashion_mnist}", "name: fashion_mnist, label_noise: 2}", "data.label_noise"),
        ("name: fashion_mnist}", "name: 'mine:data', label_noise: 2}", "data.label_noise"),
        ("name: fashion_mnist}", "name: fashion_mnist, label_noise: a lot}", "data.label_noise"),
        ("name: fashion_mnist}", "name: fashion_mnist, subset: 55001}", "data.subset"),
        ("name: fashion_mnist}", "name: fashion_mnist, root: 3}", "data.root"),
        ("name: fashion_mnist}", "name: fashion_mnist, download: yes}", "data.download"),
        ("name: fashion_mnist}", "name: fashion_mnist, label_noise: [0, 1]}", "data.label_noise"),
        ("name: small_cnn", "name: small_cn", "model.name"),
        ("name: small_cnn}", "name: small_cnn, wdith: 3}", "model"),
        ("name: small_cnn}", "name: small_cnn, width: 0}", "model.width"),
        ("name: small_cnn}", "name: resnet18, pretrained: weights.pt}", "model.pretrained"),
        # training
        ("epochs: 10", "epochs: 0", "training.epochs"),
        ("epochs: 10", "epochs: 1.5", "training.epochs"),
        ("epochs: 10", "epochs: true", "training.epochs"),
        ("batch_size: 128", "batch_size: all", "training.batch_size"),
        ("lr: 0.05", "lr: 0", "training.optimizer.lr"),
        ("lr: 0.05", "lr: default_space", "training.optimizer.lr"),
        ("lr: 0.05", "lr: {log_uniform: [0, 1]}", "training.optimizer.lr.log_uniform.0"),
        ("lr: 0.05", "lrr: 0.05", "training.optimizer"),
        ("name: sgd", "name: sdg", "training.optimizer.name"),
        ("momentum: 0.9, nesterov: true", "momentum: 1.0", "training.optimizer.momentum"),
        ("optimizer: {name: sgd, lr: 0.05, momentum: 0.9, nesterov: true}", "optimizer: sgd", "training.optimizer"),
        ("milestones: [6, 8]", "milestones: 6", "training.milestones"),
        ("milestones: [6, 8]", "milestones: [6, 6]", "training.milestones"),
        ("milestones: [6, 8]", "milestones: {choice: [6, 8]}", "training.milestones"),
        ("milestones: [6, 8]", "preset: sawada_circl", "training.preset"),
        ("milestones: [6, 8]", "augment: {flip: {choice: [1, 2]}}", "training.augment.flip.choice.0 training.augment.flip.choice.1"),
        ("milestones: [6, 8]", "keep_lr_per_example: 1", "training.keep_lr_per_example"),
        ("milestones: [6, 8]", "optimizer.lr: 1", "training"),
        # k
        ("k: [2, 3]", "k: [2, 3, 0]", "k.2"),
        ("k: [2, 3]", "k: [2, 2]", "k"),
        ("k: [2, 3]", "k: []", "k"),
        ("k: [2, 3]", "k: all", "k"),
        # arms
        ("  avgk:", "  avg_k:", "arms.avg_k"),
        ("  avgk: {", "  mine: {loss: avg_k, ", "arms.mine.loss"),
        ("  avgk: {", "  mine: {loss: focal, ", "arms.mine"),
        ("  avgk: {", "  avgk: {loss: focal, ", "arms.avgk"),
        ("  avgk: {", "  a/b: {loss: avgk, ", "arms"),
        ("  avgk: {alpha: {log_uniform: [0.1, 10]}}", "  avgk: 3", "arms.avgk"),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: -1", "arms.avgk.alpha"),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: [1, 2]", "arms.avgk.alpha"),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: {log_unifrom: [0.1, 10]}", "arms.avgk.alpha"),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: {uniform: [-1, 10]}", "arms.avgk.alpha.uniform.0"),
        ("alpha: {log_uniform: [0.1, 10]}", "alpha: {uniform: [1, 2, 3]}", "arms.avgk.alpha.uniform"),
        ("alpha: {log_uniform: [0.1, 10]}", "y_in_negatives: default_space", "arms.avgk.y_in_negatives"),
        ("num_samples: 3", "num_sample: 3", "arms.noised_topk_hinge"),
        ("num_samples: 3", "num_samples: {uniform: [1, 3]}", "arms.noised_topk_hinge.num_samples"),
        ("num_samples: 3", "num_samples: {int: [1.5, 3]}", "arms.noised_topk_hinge.num_samples.int.0"),
        ("num_samples: 3", "k: {int: [1, 3]}", "arms.noised_topk_hinge.k"),
        ("num_samples: 3", "training.epoch: 3", "arms.noised_topk_hinge"),
        ("num_samples: 3", "training.optimizer: {lr: 3}", "arms.noised_topk_hinge"),
        ("num_samples: 3", "training.epochs: 0", "arms.noised_topk_hinge.training.epochs"),
        ("cross_entropy: {}", "cross_entropy: {k: 2}", "arms.cross_entropy"),
        # grid
        ("data.label_noise: [0.0, 0.2]", "data.label_nois: [0]", "grid"),
        ("data.label_noise: [0.0, 0.2]", "data.sigma: [1]", "grid"),
        ("data.label_noise: [0.0, 0.2]", "model.hidden: [1]", "grid"),
        ("data.label_noise: [0.0, 0.2]", "data.name: [digits, cirle]", "grid.data.name.1"),
        ("data.label_noise: [0.0, 0.2]", "data.root: [/data]", "grid"),
        ("data.label_noise: [0.0, 0.2]", "alpha: [1]", "grid"),
        ("[0.0, 0.2]", "0.2", "grid.data.label_noise"),
        ("[0.0, 0.2]", "[]", "grid.data.label_noise"),
        ("[0.0, 0.2]", "[0.0, 0]", "grid.data.label_noise"),
        ("[0.0, 0.2]", "[0.0, 2]", "grid.data.label_noise.1"),
        ("data.label_noise: [0.0, 0.2]", "training.epochs: [10, {int: [1, 2]}]", "grid.training.epochs.1"),
        # search, confirm, compare, resources
        ("trials: 12", "trails: 12", "search"),
        ("sampler: tpe", "sampler: tp", "search.sampler"),
        ("val/avg2_accuracy", "test/avg2_accuracy", "search.objective"),
        ("val/avg2_accuracy", "val/avg2_acc", "search.objective"),
        ("seeds: 2}", "seeds: 0}", "search.seeds"),
        ("seeds: 2}", "seeds: [1, 1]}", "search.seeds"),
        ("confirm: {seeds: 5}", "confirm: 5", "confirm"),
        ("confirm: {seeds: 5}", "confirm: {seeds: null}", "confirm.seeds"),
        ("confidence: 0.95", "confidence: 95", "compare.confidence"),
        ("correction: holm", "metrics: test/top2_accuracy", "compare.metrics"),
        ("correction: holm", "metrics: [test/top2_acc]", "compare.metrics.0"),
        ("cpus: 1", "cpus: 0", "resources.cpus"),
        ("gpus: 0", "gpus: 1.5", "resources.gpus"),
        ("gpus: 0", "gpu: 1", "resources"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_where_it_is_made_as_it_is_when_the_study_is_read(
    read_text: Read, validator: Validator, example: str, before: str, after: str, place: str
) -> None:
    assert before in example
    text = example.replace(before, after)
    with pytest.raises(StudyError):
        read_text(text)
    places = [".".join(map(str, error.absolute_path)) for error in validator.iter_errors(read_yaml(text)[0])]
    assert sorted(set(places)) == place.split(" ")
