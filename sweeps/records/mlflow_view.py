"""How the MLflow UI shows a study: the tags of an experiment that its pages read.

A shared view is MLflow's own way to hand somebody a table with chosen columns: a tag holds the table's state and the
address names the tag. MLflow has no default columns that an experiment could set, so its description links the views.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from setsweep.sweeps.study.study import Stage, Study
from setsweep.trainables.evaluation.metric import SET_RULES, accuracy

MEANS, TREE = "means", "tree"  # names of the shared views
STATISTICS = ("mean", "ci_low", "ci_high", "n")
NAME_WIDTH, METRIC_WIDTH = 330, 230  # pixels; "test/macro_avg5_accuracy/ci_high" is seen whole


def experiment_tags(study: Study) -> dict[str, str]:
    """Marks the experiment as training (not as a language model's traces) and adds the shared views."""
    confirmed = "tags.level = 'aggregate' and tags.stage = 'confirm' and tags.current = 'true'"
    return {
        "mlflow.experimentKind": "custom_model_development",
        f"mlflow.sharedViewState.{MEANS}": json.dumps(_view(study, confirmed, order=next(_columns(study)))),
        f"mlflow.sharedViewState.{TREE}": json.dumps(_view(study, "", order="attributes.start_time")),
    }


def view_path(experiment_id: str, view: str) -> str:
    """The address of a shared view on an MLflow server, from the ``#`` on."""
    return f"#/experiments/{experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={view}"


def experiment_note(study: Study, experiment_id: str, tables: str) -> str:
    """The experiment's description, in Markdown: what is asked, the way to the views, the result tables."""
    means, tree = (view_path(experiment_id, view) for view in (MEANS, TREE))
    links = f"[Means with their intervals]({means}) | [The study, its aggregates and their runs]({tree})"
    return "\n\n".join(part for part in (study.about, links, tables) if part)


def reported_metrics(study: Study, stage: Stage) -> list[str]:
    """The metrics that a stage is about: the search's objective; what is compared, or else every test accuracy."""
    if stage == "search":
        return [study.search.objective] if study.search else []
    if study.compare.metrics:
        return list(study.compare.metrics)
    return [accuracy(rule, k, split="test").name for rule in SET_RULES for k in study.k]


def _view(study: Study, search: str, *, order: str) -> dict[str, object]:
    """The state of the UI's table of runs: which rows, in which order, with which columns.

    The UI nests runs below their parents only in the order of their start, and lists them flat in any other.
    """
    columns = list(_columns(study))
    return {
        "searchFilter": search,
        "orderByKey": order,
        "orderByAsc": False,
        "selectedColumns": columns,
        "columnOrder": ["attributes.`Run Name`", *columns],
        "columnWidths": {
            "attributes.`Run Name`": NAME_WIDTH,
            **{name: METRIC_WIDTH for name in columns if name.startswith("metrics.")},
        },
    }


def _columns(study: Study) -> Iterator[str]:
    searched = {path for arm in study.arms.values() for path in arm.searched}
    for metric in reported_metrics(study, "confirm"):
        yield from (f"metrics.`{metric}/{statistic}`" for statistic in STATISTICS)
    yield from (f"params.`{path.removeprefix('loss.')}`" for path in (*study.grid, *sorted(searched)))
    yield from ("tags.`arm`", "tags.`failed`")
