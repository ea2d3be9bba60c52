"""The command line: arguments in, exit codes out.

Every module below `sweeps.commands` with a function ``command`` is a command; its name is the module's, and its
arguments and their help are those of the function. A module is imported when its command is called: listing losses
must not wait for Ray, nor a report for MLflow.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from cyclopts import App, CycloptsError, Parameter
from cyclopts.completion.detect import ShellDetectionError

from setsweep.sweeps.commands.exit_codes import BAD_INPUT, DONE, FAILED, STOPPED
from setsweep.sweeps.execution.errors import ExecutorError, UnseenStorageError
from setsweep.sweeps.sweep.stopping import sigterm_as_interrupt

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

ABOUT = "Sweeps of set-valued image classifiers: every number with an interval over seeds."
_COMMAND = re.compile(r'^def command\(.*?"""(.*?)[\n"]', re.MULTILINE | re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 some runs failed or none could be started, 2 bad input, 130 stopped (Ctrl-C, SIGTERM)."""
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # a study may name functions of the user's; workers look there as well
    try:
        with sigterm_as_interrupt():
            code = _app()(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()  # where the reader of a pipe has gone, that shows now and not at the exit
    except CycloptsError as error:
        return _refused(f"{error} 'setsweep --help' lists the commands, 'setsweep COMMAND --help' what one takes.")
    except (ValueError, UnseenStorageError) as error:  # in what the user gave: study files, data, storage, addresses
        return _refused(error)
    except ExecutorError as error:
        print(f"setsweep: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:  # before or after the training, which has its own way to stop
        print("setsweep: stopped. The same command goes on from here.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return DONE if code is None else int(code)


def _refused(error: object) -> int:
    print(f"setsweep: {error}", file=sys.stderr)
    return BAD_INPUT


def _app() -> App:
    app = App(
        name="setsweep",
        help=ABOUT,
        version=_version,
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,  # which `main` answers
        result_action="return_value",
    )
    for module, about in commands().items():
        app.command(f"{module}:command", name=_name(module), help=about)
    app.command(_completion(app), name="completion")
    return app


def _completion(app: App) -> Callable[..., None]:
    """The command that knows all others."""

    def completion(shell: Literal["bash", "zsh", "fish"] | None = None, *, install: bool = False) -> None:
        """Print what makes a shell complete commands and options, or install it.

        Args:
            shell: default: the one that this runs in.
            install: write it where the shell looks for it, and into its start-up file.
        """
        try:
            if install:
                print(f"{app.install_completion(shell=shell)}: used by shells that start from now on.")
            else:
                print(app.generate_completion(shell=shell))
        except ShellDetectionError:
            raise ValueError("SHELL must be given where it can't be told, bash, zsh or fish, got none.") from None

    return completion


def _name(module: str) -> str:
    """The command of a module: ``import`` is no name for one, ``import_`` is."""
    return module.rpartition(".")[2].removesuffix("_")


def commands() -> dict[str, str]:
    """The modules of the commands, sorted by the commands' names, with what each does in a line; none is imported."""
    folder = Path(__file__).parent
    found = {}
    for path in sorted(folder.glob("commands/**/*.py"), key=lambda path: path.stem):
        if about := _COMMAND.search(path.read_text(encoding="utf-8")):
            found[".".join(("setsweep.sweeps", *path.relative_to(folder).with_suffix("").parts))] = about[1]
    return found


def _version() -> str:
    try:
        return version("setsweep")
    except PackageNotFoundError:  # running from a source tree
        return "unknown"
