"""The command line as a user sees it: what it prints, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from setsweep.sweeps.cli import commands
from setsweep.sweeps.records.study_folder import open_journal, study_folder
from setsweep.sweeps.study.reader import read_study

Command = Callable[..., Any]

PATIENCE = 120


def test_reports_are_printed_in_every_format(setsweep: Command, small: Path) -> None:
    table = setsweep("run", small, "--in-process").out
    formats = {form: setsweep("report", "small", "--format", form) for form in ("json", "csv", "markdown", "latex")}
    assert {said.code for said in formats.values()} == {0}
    assert setsweep("report", "small").out == table
    report = json.loads(formats["json"].out)
    [accuracy] = [
        entry
        for entry in report["aggregates"]
        if (entry["arm"], entry["stage"], entry["metric"]) == ("cross_entropy", "confirm", "test/top1_accuracy")
    ]
    assert accuracy["n"] == 2
    assert accuracy["mean"] == pytest.approx(sum(accuracy["values"].values()) / 2)
    assert [entry["arm"] for entry in report["comparisons"]] == ["avgk"] * len(report["comparisons"])
    rows = list(csv.DictReader(io.StringIO(formats["csv"].out)))
    assert {row["arm"] for row in rows} == {"cross_entropy", "avgk"}
    assert "| cross_entropy |" in formats["markdown"].out
    assert r"\begin{tabular}" in formats["latex"].out
    assert setsweep("report", "small", "--format", "html").out.startswith("<!DOCTYPE html>")


def test_a_report_is_written_into_a_folder(setsweep: Command, small: Path, tmp_path: Path) -> None:
    setsweep("run", small, "--in-process")
    said = setsweep("report", small, "--out", tmp_path / "out")
    assert said.code == 0
    written = {Path(line) for line in said.out.splitlines()}
    assert {path.suffix for path in written} == {".md", ".json", ".csv", ".tex", ".html", ".png"}
    assert all(path.exists() for path in written)
    kept = small.parent / "setsweep-results/small/report/report.json"
    assert (tmp_path / "out/report.json").read_bytes() == kept.read_bytes()


@pytest.mark.parametrize("command", ["report", "status"])
def test_a_study_that_was_never_run_has_none(setsweep: Command, small: Path, command: str) -> None:
    said = setsweep(command, small)
    assert said.code == 2
    assert said.err == "setsweep: --storage must be a folder in which 'small' was run, got 'setsweep-results'.\n"
    assert not Path("setsweep-results").exists()


@pytest.mark.parametrize("arguments", [("report", "small.yaml"), ("status", "small.yaml"), ("status",)])
def test_storages_nearby_are_named_where_the_storage_has_nothing(
    setsweep: Command, small: Path, arguments: tuple[str, ...]
) -> None:
    setsweep("run", small, "--in-process", "--storage", "mine")
    said = setsweep(*arguments)
    assert said.code == 2
    assert "Results are kept in 'mine'." in said.err


def test_a_study_without_a_result_has_no_report_and_its_name_is_free(setsweep: Command, small: Path) -> None:
    study = read_study(small)
    open_journal(study, study_folder("setsweep-results", "small")).close()
    said = setsweep("report", small)
    assert said.code == 2
    assert "study 'small' must have a result to report, got none so far" in said.err
    assert setsweep("run", small, "--in-process", "--set", "training.epochs=1").code == 0
    refused = setsweep("run", small, "--in-process")
    assert refused.code == 2
    assert "training.epochs: 1 before, 2 now" in refused.err


def test_a_file_means_what_it_says(setsweep: Command, small: Path) -> None:
    assert setsweep("run", small, "--in-process").code == 0
    small.write_text(small.read_text().replace("cross_entropy: {}", "cross_entropy: {}\n  focal: {}"))
    arms = [line.split()[0] for line in setsweep("status", small).out.splitlines()[1:4]]
    assert arms == ["cross_entropy", "focal", "avgk"]
    said = setsweep("report", small)
    assert "arms.focal: nothing before, {} now" in " ".join(said.out.split())
    assert "focal" not in setsweep("report", "small").out


def test_the_status_counts_runs_by_study_and_by_arm(setsweep: Command, small: Path) -> None:
    setsweep("run", small, "--in-process")
    setsweep("run", small, "--in-process", "--set", "study=bad", "--set", "training.optimizer.lr=1e30")
    said = setsweep("status")
    assert said.code == 1
    heading, bad, good = (line.split() for line in said.out.splitlines())
    assert heading == ["study", "done", "running", "diverged", "failed", "waiting"]
    assert (good, bad) == (["small", "7", "0", "0", "0", "0"], ["bad", "0", "0", "7", "0", "0"])
    arms = setsweep("status", "small")
    assert arms.code == 0
    assert [line.split()[:2] for line in arms.out.splitlines()[1:]] == [["cross_entropy", "2"], ["avgk", "5"]]
    by_url = setsweep("status", "--storage", Path("setsweep-results").absolute().as_uri())
    assert by_url.out == said.out


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        ("studies", ("demo", "digits-search", "cifar100-small")),
        ("losses", ("cross_entropy", "noised_topk_hinge", "epsilon = 0.2", "log_uniform")),
        ("datasets", ("circle", "digits", "fashion_mnist", "cifar100", "label_noise")),
    ],
)
def test_listings_name_what_there_is(setsweep: Command, listing: str, expected: tuple[str, ...]) -> None:
    said = setsweep(listing)
    assert said.code == 0
    assert all(word in said.out for word in expected)


def test_a_plan_says_what_would_run_and_records_nothing(setsweep: Command, small: Path) -> None:
    said = setsweep("plan", small, "--slots", 2)
    assert said.code == 0
    assert "small: 7 runs" in said.out
    assert "3 trials x 1 seed" in said.out
    assert "on 2 slots of 1 CPU and 0 GPU" in said.out
    assert not Path("setsweep-results").exists()


BAD = [
    (["nosuch.yaml"], "nosuch.yaml: must be a study file or the name of a bundled study"),
    (["demmo"], "Did you mean 'demo'?"),
    (["."], ".: must be a file that can be read, got: Is a directory."),
    (["small.yaml", "--set", "arms.avg_k={}"], "arms.avg_k: unknown loss 'avg_k'. Did you mean 'avgk'?"),
    (["small.yaml", "--set", "epochs=3"], "epochs: unknown field 'epochs'"),
    (["small.yaml", "--set", "training.epochs"], "--set training.epochs: must be FIELD=VALUE"),
    (["small.yaml", "--set", "search.objective=val/avg7_accuracy"], "Did you mean 'val/avg2_accuracy'?"),
    (["small.yaml", "--set", "k=[1, 10]"], "k: must be between 1 and num_classes - 1 = 9, got 10."),
    (["small.yaml", "--set", "arms.avgk.alpha=1"], "small.yaml:9: search: has no candidates"),
    (["small.yaml", "--set", "search.seeds=[0, 9]"], "confirm.seeds: must be fresh, none of those of the search"),
    (["list.yaml"], "list.yaml:1: must be a mapping of fields"),
    (["code.yaml"], "code.yaml:2: data: tags that run code are not read"),
    (["small.yaml", "--storage", "file/below"], "storage must be a folder that can be written, got 'file/below/small'"),
    (
        ["small.yaml", "--storage", "hdfs://bucket"],
        "or of an object store (s3, s3a, gs, az, abfs, abfss), got 'hdfs://bucket'.",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input_is_told_in_a_line_and_ends_with_2(
    setsweep: Command, small: Path, arguments: list[str], message: str
) -> None:
    Path("list.yaml").write_text("- a\n")
    Path("code.yaml").write_text('study: x\ndata: !!python/object/apply:os.system ["touch ran"]\n')
    Path("file").write_text("")
    said = setsweep("run", *arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert "Traceback" not in said.err
    assert not Path("ran").exists()
    assert not Path("setsweep-results").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fly"], 'Unknown command "fly". Available commands: '),
        (["rum", "demo"], 'Unknown command "rum". Did you mean "run"?'),
        (["run"], 'Command "run" parameter --study requires an argument.'),
        (["run", "demo", "--adress", "auto"], "Unknown option: --adress. Did you mean --address?"),
        (["plan", "demo", "--slots", "two"], 'Invalid value for --slots: unable to convert "two" into int.'),
        (
            ["report", "demo", "--format", "pdf"],
            "format must be one of csv, html, json, latex, markdown, terminal, got",
        ),
    ],
)
def test_arguments_that_make_no_command_end_with_2_and_a_sentence(
    setsweep: Command, arguments: list[str], said: str
) -> None:
    ended = setsweep(*arguments)
    assert ended.code == 2
    assert said in ended.err
    assert ended.out == ""


def test_without_a_command_the_commands_are_listed(setsweep: Command) -> None:
    ended = setsweep()
    assert ended.code == 0
    for module, about in commands().items():
        assert f" {module.rpartition('.')[2].rstrip('_')} " in ended.out
        assert about.endswith(".")


def test_the_version_is_that_of_the_package(setsweep: Command) -> None:
    assert setsweep("--version").out.strip() == version("setsweep")


def test_an_address_without_a_cluster_is_told_at_once(setsweep: Command, small: Path) -> None:
    began = time.monotonic()
    said = setsweep("run", small, "--address", "127.0.0.1:1")
    assert said.code == 2
    assert "--address must be the address of a running Ray cluster, got '127.0.0.1:1'" in said.err
    assert time.monotonic() - began < 30


def test_an_address_of_ray_client_is_refused_with_what_serves(setsweep: Command, small: Path) -> None:
    said = setsweep("run", small, "--address", "ray://127.0.0.1:1")
    assert said.code == 2
    assert "--address must be that of a cluster of which this machine is a node (HOST:PORT or auto)" in said.err
    assert "'setsweep submit STUDY --address http://HEAD:8265' runs a study on a cluster from outside." in said.err


def test_data_that_are_not_there_are_told_by_plan(setsweep: Command, small: Path, tmp_path: Path) -> None:
    """A run with such data fails with that reason; a plan is for finding out before."""
    data = f"data={{name: cifar100, root: {tmp_path / 'empty'}}}"
    said = setsweep("plan", small, "--set", data, "--set", "model={name: small_cnn}")
    assert said.code == 2
    assert str(tmp_path / "empty") in said.err
    assert "Traceback" not in said.err


def test_a_second_sweep_of_the_same_study_is_refused(setsweep: Command, small: Path) -> None:
    from setsweep.sweeps.records.journal import Journal

    with Journal(small.parent / "setsweep-results/small"):
        said = setsweep("run", small, "--in-process")
    assert said.code == 2
    assert "must be written by one sweep at a time" in said.err


@pytest.mark.parametrize("listing", ["losses", "datasets"])  # more and less than Python keeps before it writes
def test_a_closed_pipe_is_no_error(listing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "setsweep.sweeps", listing]
    ended = subprocess.run(command, check=False, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, "")
