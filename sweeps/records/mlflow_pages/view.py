"""How the MLflow UI shows a study: the tags of an experiment that its pages read.

A shared view is MLflow's own way to hand somebody a table with chosen columns, or a page of charts: a tag holds the
page's state and the address names the tag. MLflow 3.17 wants an envelope around the state and lists it in the menu
"Views"; older versions read the bare state. A tag holds both.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from setsweep.sweeps.records.mlflow_address import CURVES, FAILURES, RESULTS, SEARCH, SEEDS, SENSITIVITY, TREE
from setsweep.sweeps.records.mlflow_pages.charts import Chart, bars, layout, line, parallel, scatter
from setsweep.sweeps.records.mlflow_pages.metrics import BAND, aggregate_metrics, curve_metrics, run_metrics
from setsweep.sweeps.records.mlflow_pages.params import short
from setsweep.sweeps.records.mlflow_pages.sensitivity import Dimension, dimensions
from setsweep.sweeps.records.mlflow_pages.texts import CHOSEN, RUNS, column, reported_metrics
from setsweep.sweeps.study.study import Study
from setsweep.trainables.evaluation.metric import TRAIN_LOSS

VIEW_TAG = "mlflow.sharedViewState."
MAX_EXPERIMENT_TAG = 20_000  # characters, MLflow's limit
ORDER = "mlflow.setsweep.order"  # the tag of an aggregate by which the table is sorted
CREATED = 1_767_225_600_000  # milliseconds: the first of 2026; only the views' order among themselves is read

NAME = "attributes.`Run Name`"
NAMES = (150, 330)  # pixels, the least and the most; names are seen whole in between
WIDTH, WIDE = 140, 400  # pixels: "67.31 [22.45, 100]"; a sentence

CURRENT = "tags.level = 'aggregate' and tags.current = 'true'"


@dataclass(frozen=True, kw_only=True)
class View:
    """A view of an experiment.

    Args:
        key: in its address.
        name: in the menu.
        search: which rows it has.
        order: the key that they are sorted by; in the order of their start, and in that alone, the UI adds the rows
            above them and nests them below.
        columns: of the table, beside the name.
        wide: those of them with long texts.
        charts: of the page of charts.
        no_charts: metrics that get none.
        group_by: tags and params by whose values rows are put together.
        name_width: pixels.
    """

    key: str
    name: str
    search: str
    order: str = f"tags.`{ORDER}`"
    ascending: bool = True
    columns: Sequence[str]
    wide: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    no_charts: Sequence[str] = ()
    group_by: Sequence[tuple[str, str]] = ()
    name_width: int = NAMES[0]

    def state(self) -> dict[str, Any]:
        """What the UI keeps of a page: see `EXPERIMENT_PAGE_UI_STATE_FIELDS` in its source."""
        widths = {name: WIDE if name in self.wide else WIDTH for name in self.columns}
        keys = [{"mode": mode, "groupByData": name} for mode, name in self.group_by]
        return {
            "searchFilter": self.search,
            "orderByKey": self.order,
            "orderByAsc": self.ascending,
            "selectedColumns": list(self.columns),
            "columnOrder": [NAME, *self.columns],
            "columnWidths": {NAME: self.name_width, **widths},
            **({"groupBy": {"aggregateFunction": "average", "groupByKeys": keys}} if keys else {}),
            **(layout(self.name, self.charts, self.no_charts) if self.charts else {}),
        }


def experiment_tags(study: Study) -> dict[str, str]:
    """Marks the experiment as training (not as a language model's traces) and adds the shared views."""
    return {
        "mlflow.experimentKind": "custom_model_development",
        "mlflow.experiment.primaryMetric.name": f"{study.primary}/mean",
        **{f"{VIEW_TAG}{view.key}": _tag(view, index) for index, view in enumerate(reversed(views(study)))},
    }


def views(study: Study) -> list[View]:
    """The views of a study in the order of the menu; that of the search where there is one."""
    charts = [_curves(study), _seeds(study), *_search(study), *_sensitivity(study)]
    found = [_results(study), *charts, _failures(), _tree(study)]
    return [replace(view, name_width=_name_width(study)) for view in found]


def _name_width(study: Study) -> int:
    """For the longest name of an aggregate, at the width of the page's letters."""
    points = ["".join(f" {path.rpartition('.')[2]}={short(v)}" for path, v in p.items()) for p in study.points()]
    letters = max(map(len, study.arms)) + max(map(len, points))
    return min(max(round(50 + 6.4 * letters), NAMES[0]), NAMES[1])


def _tag(view: View, index: int) -> str:
    """The envelope and the bare state in one; charts compressed, or at last left out, where they would not fit."""
    state = view.state()
    envelope = {"name": view.name, "createdAt": CREATED + index, "updatedAt": CREATED + index}
    table = {name: value for name, value in state.items() if not name.startswith("compareRun")}
    text = json.dumps({**state, **envelope, "state": json.dumps(state)})
    for fewer in (state, replace(view, no_charts=()).state(), table):
        if len(text) <= MAX_EXPERIMENT_TAG:
            break
        packed = "deflate;" + base64.b64encode(zlib.compress(json.dumps(fewer).encode(), 9)).decode()
        text = json.dumps({**table, **envelope, "state": packed})
    return text


def _results(study: Study) -> View:
    texts = [column(metric) for metric in reported_metrics(study, "confirm")]
    searched = any(arm.searched for arm in study.arms.values())
    columns = [_tags(name) for name in (*texts, RUNS, *([CHOSEN] if searched else []))]
    return View(
        key=RESULTS,
        name="Results",
        search=f"{CURRENT} and tags.stage = 'confirm'",
        columns=columns,
        wide=[_tags(CHOSEN)],
        charts=[bars(column(metric), f"{metric}/mean") for metric in reported_metrics(study, "confirm")],
        no_charts=aggregate_metrics(study, "confirm"),
    )


def _curves(study: Study) -> View:
    charts = [
        line(_title(metric), [f"{metric}/mean", f"{metric}/ci_low", f"{metric}/ci_high"])
        for metric in curve_metrics(study)
    ]
    return View(
        key=CURVES,
        name="Curves with intervals",
        search=f"{CURRENT} and tags.stage = 'confirm'",
        columns=[_tags(column(metric)) for metric in reported_metrics(study, "confirm")],
        charts=charts,
        no_charts=aggregate_metrics(study, "confirm"),
    )


def _seeds(study: Study) -> View:
    curves = [line(f"{_title(metric)} (range)", [metric]) for metric in curve_metrics(study)]
    finals = [bars(column(metric), metric) for metric in reported_metrics(study, "confirm")]
    return View(
        key=SEEDS,
        name="Seeds",
        search="tags.level = 'run' and tags.stage = 'confirm'",
        order=_tags("seed"),
        columns=[_tags("arm"), _tags("seed")],
        charts=[*curves, *finals],
        no_charts=run_metrics(study),
        group_by=[("tag", "arm"), *(("param", path) for path in study.grid)],
    )


def _search(study: Study) -> list[View]:
    searched = sorted({path.removeprefix("loss.") for arm in study.arms.values() for path in arm.searched})
    if study.search is None or not searched:
        return []
    objective = f"{study.search.objective}/mean"
    by_param = [scatter(f"objective by {name}", ("PARAM", name), ("METRIC", objective)) for name in searched]
    trials = scatter("objective by trial", ("PARAM", "trial"), ("METRIC", objective))
    together = [parallel("hyperparameters and objective", searched, [objective])] if len(searched) > 1 else []
    view = View(
        key=SEARCH,
        name="Search",
        search=f"{CURRENT} and tags.stage = 'search'",
        columns=[
            _tags(column(study.search.objective)),
            *(f"params.`{name}`" for name in searched),
            _tags("trial"),
            _tags(CHOSEN),
        ],
        charts=[*by_param, trials, *together],
        no_charts=aggregate_metrics(study, "search"),
    )
    return [view]


def _sensitivity(study: Study) -> list[View]:
    """The study's own metric by each thing that it varies: all arms in one chart, then each with its interval."""
    metric = column(study.primary)
    charts = []
    for found in dimensions(study):
        over = partial(line, x_metric=found.x, x_log=found.is_log)
        means = [found.curve(arm, "mean") for arm in found.names]
        charts.append(over(f"{metric} by {found.label}", means))
        for arm in found.names:
            title = f"{metric} by {found.label}, {arm}"
            charts.append(over(title, [found.curve(arm, part) for part in BAND]))
    hidden = [f"best/{name}" for name in reported_metrics(study, "confirm")]
    hidden += [f"runs/{name}" for name in ("planned", "done", "failed", "waiting")]
    hidden += [name for found in dimensions(study) for name in (found.x, *_parts(found))]
    view = View(
        key=SENSITIVITY, name="Sensitivity", search="tags.level = 'study'", columns=[], charts=charts, no_charts=hidden
    )
    return [view] if charts else []


def _parts(found: Dimension) -> list[str]:
    return [found.curve(arm, part) for arm in found.names for part in BAND]


def _failures() -> View:
    return View(
        key=FAILURES,
        name="Failures",
        search="tags.level = 'run' and attributes.status = 'FAILED'",
        order=_tags("arm"),
        columns=[_tags(name) for name in ("reason", "result", "arm", "seed", "host")],
        wide=[_tags("reason")],
    )


def _tree(study: Study) -> View:
    return View(
        key=TREE,
        name="Tree",
        search="tags.level != 'run'",
        order="attributes.start_time",
        ascending=False,
        columns=[*(_tags(column(metric)) for metric in reported_metrics(study, "confirm")), _tags(RUNS)],
    )


def _title(metric: str) -> str:
    """Short: charts are narrow."""
    return column(metric) if metric != TRAIN_LOSS.name else "loss"


def _tags(name: str) -> str:
    return f"tags.`{name}`"
