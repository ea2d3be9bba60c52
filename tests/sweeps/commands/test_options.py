"""Options of one command, as it gives them to another."""

from __future__ import annotations

from setsweep.sweeps.commands.options import as_words, with_budget


def test_options_are_words_of_a_command_line() -> None:
    given = {"set": ["a=1", "b=[1, 2]"], "storage": "/my results", "yes": True, "wait": False, "rate": None, "slots": 0}
    assert as_words(given) == ["--set=a=1", "--set=b=[1, 2]", "--storage=/my results", "--yes", "--slots=0"]


def test_a_budget_is_put_over_that_of_the_file() -> None:
    assert with_budget(None, None, None, None) == []
    assert with_budget(["k=3"], 1.5, 7, None) == ["k=3", "budget.max_time=1.5", "budget.max_runs=7"]
