"""What MLflow's page reads of a study's views is known to the MLflow that is installed."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mlflow
import pytest

from setsweep.sweeps.records.mlflow_pages.view import MAX_EXPERIMENT_TAG, VIEW_TAG, experiment_tags, views
from setsweep.sweeps.study.study import Study


@cache
def _page() -> str:
    """The program of MLflow's page."""
    folder = Path(mlflow.__file__).parent / "server" / "js" / "build" / "static" / "js"
    return "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.js"))


def _known(field: str) -> bool:
    return any(form in _page() for form in (f'"{field}"', f".{field}=", f".{field},", f"{field}:", f".{field})"))


def _states(study: Study) -> list[dict[str, Any]]:
    return [view.state() for view in views(study)]


def test_every_field_of_the_views_is_known_to_the_installed_page(make_study: Callable[..., Study]) -> None:
    states = _states(make_study())
    fields = {field for state in states for field in state}
    cards = [chart for state in states for chart in state.get("compareRunCharts", ())]
    sections = [section for state in states for section in state.get("compareRunSections", ())]
    fields |= {field for each in (*cards, *sections) for field in each}
    assert {"compareRunCharts", "selectedMetricKeys", "groupBy", "runsHiddenMode"} <= fields
    assert [field for field in sorted(fields) if not _known(field)] == []
    assert [kind for kind in sorted({card["type"] for card in cards}) if f'="{kind}"' not in _page()] == []
    assert not _known("aFieldThatNoPageHas")


def test_a_tag_holds_the_envelope_of_new_pages_and_the_bare_state_of_old_ones(make_study: Callable[..., Study]) -> None:
    study = make_study()
    tags = experiment_tags(study)
    for view in views(study):
        tag = json.loads(tags[f"{VIEW_TAG}{view.key}"])
        assert (tag["name"], type(tag["createdAt"]), type(tag["state"])) == (view.name, int, str)
        state = tag["state"]
        if state.startswith("deflate;"):
            state = zlib.decompress(base64.b64decode(state.removeprefix("deflate;"))).decode()
        assert json.loads(state) == view.state()
        assert tag["searchFilter"] == view.search
    created = [json.loads(tags[f"{VIEW_TAG}{view.key}"])["createdAt"] for view in views(study)]
    assert created == sorted(created, reverse=True)  # the menu has the newest first


@pytest.mark.parametrize("k", [(1,), tuple(range(1, 21))])
def test_tags_fit_however_many_metrics_there_are(make_study: Callable[..., Study], k: tuple[int, ...]) -> None:
    tags = experiment_tags(make_study(k=k))
    assert max(map(len, tags.values())) <= MAX_EXPERIMENT_TAG


def test_every_metric_without_a_chart_of_its_own_is_kept_from_getting_one(make_study: Callable[..., Study]) -> None:
    for view in views(make_study()):
        charts = view.state().get("compareRunCharts", ())
        named = {chart.get("metricKey") for chart in charts}
        assert set(view.no_charts) <= named


def test_a_study_without_a_search_has_no_view_of_one(study: Study, make_study: Callable[..., Study]) -> None:
    assert "Search" not in [view.name for view in views(study)]
    assert "Search" in [view.name for view in views(make_study())]
