"""Test images with the sets that each arm's kept model gives them: what is kept of them, and how the page shows it.

They are made where models and data are (`setsweep.sweeps.sweep.examples`), and lie beside the report.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal, get_args

from setsweep.sweeps.reports.wording import place
from setsweep.sweeps.study.study import Point

FILE = "examples.json"
Kind = Literal["right", "wrong", "large set", "small set"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_NAMED = 8  # classes of a set; the others are counted
STYLE = """
#examples img { width: 64px; height: 64px; object-fit: contain; image-rendering: pixelated; vertical-align: middle; }
#examples td { white-space: normal; text-align: left; max-width: 18rem; }
"""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A test image.

    Args:
        kind: why it is shown, by the set of the arm that it was picked by.
        image: a small PNG or JPEG file, in base64.
        label: the name of its class.
        sets: the names of the classes in each arm's set, the likeliest first.
    """

    kind: Kind
    image: str
    label: str
    sets: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The images at a point of the grid.

    Args:
        point: of the grid.
        k: the average size of the sets.
        by: the arm that the images were picked by.
        looked_at: how many test images they were picked from.
        examples: in the order of `KINDS`.
    """

    point: Point
    k: int
    by: str
    looked_at: int
    examples: Sequence[Example]


def read_examples(folder: Path) -> list[Examples]:
    """What lies in a study's folder; nothing where that is missing, or is not what `write_examples` has written."""
    try:
        plain = json.loads((folder / "report" / FILE).read_text(encoding="utf-8"))
        return [_examples(each) for each in plain]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def write_examples(found: Sequence[Examples], folder: Path) -> None:
    """Keep them in a study's folder."""
    path = folder / "report" / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(each) for each in found]), encoding="utf-8")


def _examples(plain: Mapping[str, Any]) -> Examples:
    return Examples(**{**plain, "examples": [Example(**each) for each in plain["examples"]]})


def section(found: Sequence[Examples]) -> str:
    """The part of the page; empty without images."""
    return "".join(map(_of_point, found))


def _of_point(found: Examples) -> str:
    arms = list(dict.fromkeys(arm for each in found.examples for arm in each.sets))
    heads = "".join(f'<th scope="col" class="text">{escape(head)}</th>' for head in ("", "image", "class", *arms))
    rows = "".join(_row(each, arms) for each in found.examples)
    said = (
        f"Average-{found.k} sets of one model of each arm, that of the first confirmation seed, picked by those of "
        f"{found.by} from {found.looked_at} test images: single images show what sets look like, not which arm is "
        "better. ✓: the class is in the set."
    )
    title = escape(place("Examples", found.point))
    return (
        f'<section id="examples"><h2>{title}</h2>\n<p class="notes">{escape(said)}</p>\n'
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div></section>\n'
    )


def _row(each: Example, arms: Sequence[str]) -> str:
    sets = "".join(f"<td>{_set(each.sets.get(arm), each.label)}</td>" for arm in arms)
    image = f'<img alt="" src="data:{_media_type(each.image)};base64,{escape(each.image)}">'
    return f"<tr><td>{escape(each.kind)}</td><td>{image}</td><td>{escape(each.label)}</td>{sets}</tr>\n"


def _set(names: Sequence[str] | None, label: str) -> str:
    if names is None:
        return "-"
    shown = [f"<b>{escape(name)}</b>" if name == label else escape(name) for name in names[:_NAMED]]
    more = [f"and {len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return f"{'✓' if label in names else '✗'} {', '.join([*shown, *more]) or 'none'}"


def _media_type(image: str) -> str:
    try:
        return "image/png" if base64.b64decode(image[:8], validate=True).startswith(b"\x89PNG") else "image/jpeg"
    except binascii.Error:
        return "image/png"
