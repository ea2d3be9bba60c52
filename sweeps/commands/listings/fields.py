"""``setsweep fields``: every field that a study may have, from the rows that declare them."""

from __future__ import annotations

from collections.abc import Sequence

from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.commands.listings.listing import default, entry, searched, setting_line, wrapped
from setsweep.sweeps.study.fields import Group, fields_at, study_groups
from setsweep.trainables.settings.setting import Setting

HEADINGS = ("field", "must be", "default", "default_space", "what it is")


def command(path: str | None = None, *, markdown: bool = False) -> int:
    """List the fields of a study file, with rules, defaults and search ranges.

    Args:
        path: a section (search), a row (avgk, cifar100), or a part of a field's path (optimizer.lr); without: all.
        markdown: print tables for documents.
    """
    groups = study_groups() if path is None else fields_at(path)
    print(reference(groups) if markdown else "\n\n".join(map(_plain, groups)))
    return DONE


def reference(groups: Sequence[Group]) -> str:
    """The fields as a Markdown document."""
    return "\n\n".join(["# Fields of a study", *map(_markdown, groups)])


def _plain(group: Group) -> str:
    fields = [entry(setting_line(path, setting), [setting.about]) for path, setting in group.fields.items()]
    heading = "\n".join(wrapped(f"{group.heading} - {group.about.rstrip('.')}"))
    told = "\n".join(fields) or "no settings"
    return f"{heading}\n\n{told}"


def _markdown(group: Group) -> str:
    lines = [f"## `{group.heading}`", "", f"{group.about.rstrip('.')}."]
    if group.fields:
        lines += ["", *(_line(cells) for cells in (HEADINGS, ("---",) * len(HEADINGS), *_rows(group)))]
    return "\n".join(lines)


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _rows(group: Group) -> list[tuple[str, ...]]:
    return [(path, *_cells(setting)) for path, setting in group.fields.items()]


def _cells(setting: Setting) -> tuple[str, ...]:
    unit = f", in {setting.unit}" if setting.unit else ""
    return setting.rule.words, default(setting), searched(setting), f"{setting.about}{unit}"
