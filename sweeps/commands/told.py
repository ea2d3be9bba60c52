"""How much a command tells beside its result: the options ``-q`` and ``-v``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

Quiet = Annotated[bool, Parameter(name=("--quiet", "-q"))]
Verbose = Annotated[bool, Parameter(name=("--verbose", "-v"))]
