"""The command line: ``setsweep run STUDY`` and what belongs to it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from setsweep.sweeps import DEFAULT_STORAGE
from setsweep.sweeps.commands.exit_codes import BAD_INPUT, DONE, FAILED, STOPPED
from setsweep.sweeps.execution.executor import ExecutorError

if TYPE_CHECKING:
    from setsweep.sweeps.study.study import Study

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

FORMATS = ("terminal", "markdown", "json", "csv", "latex", "html")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 some runs failed or none could be started, 2 bad input, 130 stopped by Ctrl-C."""
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # a study may name functions of the user's; workers look there as well
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
        sys.stdout.flush()  # where the reader of a pipe has gone, that shows now and not at the exit
    except ValueError as error:  # every error in what the user gave: study files, data, storage, addresses
        print(f"setsweep: {error}", file=sys.stderr)
        return BAD_INPUT
    except ExecutorError as error:
        print(f"setsweep: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:  # before or after the training, which has its own way to stop
        print("setsweep: stopped. The same command goes on from here.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="setsweep", description="Sweeps of set-valued image classifiers: every number with an interval over seeds."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a study, or what is missing of it, and print its table")
    _study(run, overrides=True)
    run.add_argument("--address", help="a Ray cluster to join, or 'auto'; default: one on this machine for this sweep")
    run.add_argument("--in-process", action="store_true", help="no cluster: one run after the other in this process")
    run.add_argument("--tracking-uri", help="MLflow server or database; default: MLflow's own (./mlflow.db)")
    run.add_argument("--replace", action="store_true", help="take a study changed under the same name as the new one")
    run.add_argument("--retry-failed", action="store_true", help="train again what has failed before")
    run.set_defaults(command=_run)

    plan = commands.add_parser("plan", help="what a study would run, how long and with how much memory")
    _study(plan, overrides=True)
    plan.add_argument("--slots", type=int, help="runs at once; default: what this machine has room for")
    plan.set_defaults(command=_plan)

    report = commands.add_parser("report", help="the tables of a study from what is done so far")
    _study(report)
    report.add_argument("--format", choices=FORMATS, default="terminal")
    report.add_argument("--out", type=Path, metavar="DIR", help="write every format and the figures there")
    report.set_defaults(command=_report)

    status = commands.add_parser("status", help="what is done, running, failed and waiting")
    _study(status, optional=True)
    status.set_defaults(command=_status)

    ui = commands.add_parser("ui", help="the MLflow UI on the default store")
    ui.add_argument("--port", type=int, default=5000)
    ui.add_argument("--tracking-uri", help="the store to show; default: MLflow's own (./mlflow.db)")
    ui.set_defaults(command=_ui)

    for name, help_text in (
        ("studies", "the bundled studies"),
        ("losses", "the losses, with papers and ranges"),
        ("datasets", "the data sets, with sources and settings"),
    ):
        listing = commands.add_parser(name, help=help_text)
        listing.set_defaults(command=_listing, listing=name)
    return parser


def _study(parser: argparse.ArgumentParser, *, overrides: bool = False, optional: bool = False) -> None:
    parser.add_argument("study", nargs="?" if optional else None, help="a study file, or the name of a bundled study")
    parser.add_argument(
        "--storage",
        default=DEFAULT_STORAGE,
        metavar="DIR",
        help=f"where results are kept (default: ./{DEFAULT_STORAGE})",
    )
    if overrides:
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="FIELD=VALUE",
            dest="overrides",
            help="change a field of the study, e.g. --set training.epochs=3",
        )


# Commands are imported when they are called: listing losses must not wait for Ray, a report not for MLflow.


def _run(options: argparse.Namespace) -> int:
    from setsweep.sweeps.commands.executors import Where
    from setsweep.sweeps.commands.run import RunOptions, run_command

    chosen = RunOptions(
        storage=options.storage,
        where=Where(address=options.address, in_process=options.in_process),
        tracking_uri=options.tracking_uri,
        replace=options.replace,
        retry_failed=options.retry_failed,
    )
    return run_command(_read_study(options), chosen)


def _plan(options: argparse.Namespace) -> int:
    from setsweep.sweeps.commands.plan import plan_command

    return plan_command(_read_study(options), storage=options.storage, slots=options.slots)


def _report(options: argparse.Namespace) -> int:
    from setsweep.sweeps.commands.report import report_command

    return report_command(options.study, storage=options.storage, form=options.format, out=options.out)


def _status(options: argparse.Namespace) -> int:
    from setsweep.sweeps.commands.status import status_command

    return status_command(options.study, storage=options.storage)


def _ui(options: argparse.Namespace) -> int:
    from setsweep.sweeps.commands.ui import ui_command

    ui_command(port=options.port, tracking_uri=options.tracking_uri)


def _listing(options: argparse.Namespace) -> int:
    from setsweep.sweeps.commands import listings

    print(listings.LISTINGS[options.listing]())
    return DONE


def _read_study(options: argparse.Namespace) -> Study:
    from setsweep.sweeps.study.reader import read_study

    return read_study(options.study, options.overrides)
