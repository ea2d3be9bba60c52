"""The colours of arms, the same in figures and in MLflow."""

from __future__ import annotations

# Okabe and Ito's palette, told apart by colour-blind readers, without its yellow, which is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def colour(index: int) -> str:
    """The colour of the arm with this index, as #RRGGBB; after the last one they begin again."""
    return COLOURS[index % len(COLOURS)]
