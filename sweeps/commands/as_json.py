"""The option ``--json`` of commands; sweeps/README.md says what each prints then."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

AsJson = Annotated[bool, Parameter(name="--json")]
