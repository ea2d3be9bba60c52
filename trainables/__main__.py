"""``python -m setsweep.trainables CONFIG.yaml``: train one run and print its result as JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from setsweep.trainables.train_file import show_epoch, show_result, train_file


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 done, 1 diverged, 2 bad input."""
    about = "Train one run and print its result."
    parser = argparse.ArgumentParser(prog="python -m setsweep.trainables", description=about)
    parser.add_argument("config", type=Path, help="YAML with data, model, loss, training, k and seed")
    parser.add_argument("--root", help="where the data files lie (default: SETSWEEP_DATA or ~/.cache/setsweep)")
    parser.add_argument("--checkpoint", type=Path, help="file to checkpoint to, and to resume from if it is there")
    options = parser.parse_args(arguments)
    try:
        result = train_file(options.config, root=options.root, checkpoint=options.checkpoint, on_epoch=show_epoch)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    show_result(result)
    return 0 if result.status == "done" else 1


if __name__ == "__main__":
    sys.exit(main())
