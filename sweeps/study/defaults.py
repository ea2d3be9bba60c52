"""What a study was begun under: defaults have changed, and a study that is half done keeps those it began with."""

from __future__ import annotations

from dataclasses import replace

from setsweep.sweeps.study.study import FIRST_SEARCH_SEED, Study

DEFAULTS = 3
"""Which defaults there are today; 1: tpe, two seeds a trial, and the default configuration not confirmed; 1 and 2: runs
whose sets are saturated count by their numbers."""


def as_begun(study: Study, defaults: int) -> Study:
    """The study with the defaults that it was begun under, for what its file leaves out, and a note that says so."""
    if defaults >= DEFAULTS or study.search is None:
        return study
    study = replace(study, search=replace(study.search, saturated=True))
    return _as_first(study) if defaults == 1 else study


def _as_first(study: Study) -> Study:
    assert study.search is not None
    search, confirm = study.given.get("search") or {}, study.given.get("confirm") or {}
    kept: list[str] = []
    searching = replace(study.search, fill=False)
    if "sampler" not in search:
        searching = replace(searching, sampler="tpe")
        kept.append("search.sampler: tpe")
    if "seeds" not in search:
        searching = replace(searching, seeds=(FIRST_SEARCH_SEED, FIRST_SEARCH_SEED + 1))
        kept.append("search.seeds: 2")
    confirming = study.confirm
    if "default" not in confirm and confirming.default:
        confirming = replace(confirming, default=False)
        kept.append("confirm.default: false")
    if not kept:
        return replace(study, search=searching)
    note = (
        f"{', '.join(kept)}, as when this study was begun; what its file says goes before, and --replace begins anew."
    )
    return replace(study, search=searching, confirm=confirming, notes=(*study.notes, note))
