"""Three arms on two points with a search, and their made-up results."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from setsweep.sweeps.study.study import Study


@pytest.fixture
def study(make_study: Callable[..., Study]) -> Study:
    return make_study()
