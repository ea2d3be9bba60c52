"""``setsweep schema``."""

from __future__ import annotations

import json

from setsweep.sweeps.study.schema.study import study_schema


def command() -> None:
    """Print the JSON schema of study files, for editors."""
    print(json.dumps(study_schema(), indent=1, sort_keys=True))  # sorted, so that two versions can be compared
