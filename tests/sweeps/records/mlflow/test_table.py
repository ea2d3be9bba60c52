"""The rows of an experiment: read whole, written in batches, moved and opened again."""

from __future__ import annotations

from pathlib import Path

import pytest
from mlflow import MlflowClient

from setsweep.sweeps.records.mlflow import by_client, database
from setsweep.sweeps.records.mlflow.by_client import BATCH
from setsweep.sweeps.records.mlflow.table import Table
from setsweep.sweeps.records.mlflow_pages.rows import CONTENT, WRITTEN, MetricRow

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture(params=["in bulk", "by the client"])
def table(folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Table:
    """That of an experiment without a run, in a database of a schema that is known and of one that is not."""
    if request.param == "by the client":
        monkeypatch.setattr(database, "REVISIONS", set())
    client = MlflowClient()
    return Table(client, client.create_experiment("rows"))


def again(table: Table) -> Table:
    """As the next process finds it."""
    return Table(table.client, table.experiment_id)


def test_rows_are_found_by_level_and_key_the_oldest_first(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_client, "PAGE", 2)  # five rows are three pages
    tags = {"level": "run", "run_key": "a"}
    first, second = (table.create(("run", "a"), "of an arm", tags, start, "above") for start in (1.0, 2.0))
    for key in "bcd":
        table.create(("run", key), key, {**tags, "run_key": key}, 3.0, None)
    assert table.at(("run", "a")) == [first, second]
    assert table.at(("aggregate", "a")) == []
    assert again(table).at(("run", "a")) == [first, second]
    assert len([*again(table).all()]) == 5


def test_what_a_row_tells_of_itself_is_known_without_asking(table: Table) -> None:
    row = table.create(("aggregate", "a"), "a", {"level": "aggregate", "run_key": "a"}, 1.0, "above")
    table.log(row, (), {}, {CONTENT: "c0ffee", WRITTEN: "12", "current": "false", "chosen": "true"})
    table.end(row, "FAILED", 5000)
    (found,) = again(table).at(("aggregate", "a"))
    assert (found.content, found.written, found.current, found.chosen) == ("c0ffee", 12, False, True)
    assert (found.parent, found.status, found.end) == ("above", "FAILED", 5000)


def test_more_metrics_than_a_call_takes_are_all_written_with_params_and_tags(table: Table) -> None:
    row = table.create(("run", "a"), "a", {}, 1.0, None)
    for name, count in (("none", 0), ("whole", BATCH), ("more", 2 * BATCH + 1)):
        table.log(row, (MetricRow(name, step, 1, step) for step in range(count)), {f"p {name}": "1"}, {name: "there"})
        values = [metric.value for metric in table.client.get_metric_history(row.run_id, name)]
        assert sorted(values) == list(range(count))
    run = table.client.get_run(row.run_id)
    assert run.data.params == {"p none": "1", "p whole": "1", "p more": "1"}
    assert {"none", "whole", "more"} <= set(run.data.tags)


def test_a_moved_row_has_the_name_and_the_tags_of_its_new_place(table: Table) -> None:
    row = table.create(("run", "a"), "old seed 1", {"arm": "old", "seed": "1"}, 1.0, "before")
    table.move(row, "new seed 1", {"arm": "new"}, "after")
    run = table.client.get_run(row.run_id)
    assert run.info.run_name == "new seed 1"
    assert [run.data.tags[name] for name in ("arm", "seed", "mlflow.parentRunId")] == ["new", "1", "after"]
    assert row.parent == "after"


def test_a_row_that_has_ended_can_be_opened_again(table: Table) -> None:
    row = table.create(("study", "a"), "a", {}, 1.0, None)
    table.end(row, "FINISHED", 2000)
    table.reopen(row)
    assert table.client.get_run(row.run_id).info.status == row.status == "RUNNING"
