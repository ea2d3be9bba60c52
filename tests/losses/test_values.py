from __future__ import annotations

from typing import Any

import pytest

from setsweep.losses.values import Number, as_number, check_flag, nearest, unknown


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Number(), "a number"),
        (Number(whole=True), "a whole number"),
        (Number(low=0), "a number >= 0"),
        (Number(whole=True, low=1, high=50), "a whole number between 1 and 50"),
        (Number(above=0, below=1), "a number > 0 and < 1"),
        (Number(above=0.5, high=2.0), "a number > 0.5 and <= 2"),
        (Number(low=1, high=9, high_name="num_classes - 1"), "a number between 1 and num_classes - 1 = 9"),
        (Number(high=1e-8), "a number <= 1e-08"),
        (Number(low=1, high=1_000_000), "a number between 1 and 1000000"),
    ],
)
def test_a_rule_in_words(rule: Number, words: str) -> None:
    assert rule.words() == words


@pytest.mark.parametrize(
    ("rule", "legal", "illegal"),
    [
        (Number(low=0), 0, -1e-9),
        (Number(above=0), 1e-9, 0),
        (Number(high=1), 1, 1.001),
        (Number(below=1), 0.999, 1),
        (Number(whole=True, low=1, high=3), 3, 4),
    ],
)
def test_a_bound_holds_where_it_should(rule: Number, legal: float, illegal: float) -> None:
    assert rule.check(legal) == legal
    with pytest.raises(ValueError, match=rf"^must be {rule.bounds()}, got {illegal}\.$"):
        rule.check(illegal)


@pytest.mark.parametrize("value", ["", "x", "1,5", "0x10", "1e", "nan", "inf", None, True, False, [1], 1j])
def test_what_is_no_number_is_refused_with_the_whole_rule(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^must be a number >= 0, got ") as error:
        Number(low=0).check(value)
    assert str(error.value).endswith(f"got {value!r}.")


def test_a_fraction_is_no_whole_number_but_3_point_0_is() -> None:
    whole = Number(whole=True)
    with pytest.raises(ValueError, match=r"^must be a whole number, got 2\.5\.$"):
        whole.check(2.5)
    assert whole.check(3.0) == 3
    assert isinstance(whole.check(3.0), int)
    assert isinstance(Number().check(3), float)


def test_what_else_is_legal_is_part_of_the_message() -> None:
    with pytest.raises(ValueError, match=r"^must be a whole number >= 1 or full, got 'half'\.$"):
        Number(whole=True, low=1).check("half", otherwise=" or full")
    with pytest.raises(ValueError, match=r"^must be >= 1 or full, got 0\.$"):
        Number(whole=True, low=1).check(0, otherwise=" or full")


@pytest.mark.parametrize(
    ("text", "number"), [("1e-3", 0.001), ("-2", -2), ("+.5", 0.5), ("5.", 5), ("1E+2", 100), ("12.5e1", 125)]
)
def test_text_that_spells_a_number_is_that_number(text: str, number: float) -> None:
    # YAML 1.1 reads 1e-3 as text.
    assert as_number(text) == number


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 10**400, "1e400", " 1", "1 "])
def test_what_no_float_holds_or_spells_no_number_is_none(value: Any) -> None:
    assert as_number(value) is None


def test_whole_numbers_stay_exact() -> None:
    assert as_number(2**60 + 1) == 2**60 + 1


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_a_flag_is_true_or_false_and_nothing_like_them(value: Any) -> None:
    assert check_flag(True) is True
    assert check_flag(False) is False
    with pytest.raises(ValueError, match=rf"^must be true or false, got {value!r}\.$"):
        check_flag(value)


def test_a_failed_look_up_gives_the_nearest_name_and_all_names_in_order() -> None:
    said = "unknown loss 'avg_k'. Did you mean 'avgk'? Known: avgk, epr, focal."
    assert unknown("loss", "avg_k", {"focal": 1, "epr": 2, "avgk": 3}) == said


def test_a_failed_look_up_of_something_far_from_all_names_suggests_none() -> None:
    assert unknown("loss", "zzzzzz", ["avgk", "epr"]) == "unknown loss 'zzzzzz'. Known: avgk, epr."
    assert unknown("hyperparameter of x", "y", []) == "unknown hyperparameter of x 'y'. Known: none."


def test_a_name_of_which_a_part_is_given_is_near() -> None:
    known = ["test/macro_top2_accuracy", "test/top2_accuracy", "test/top5_accuracy"]
    assert nearest("top2", known) == " Did you mean 'test/top2_accuracy'?"
    assert nearest("to", known) == ""
    assert nearest("xyz", known) == ""


def test_the_end_of_a_dotted_name_is_nearest() -> None:
    known = ["training.epochs", "training.optimizer.lr", "lro"]
    assert nearest("lr", known) == " Did you mean 'training.optimizer.lr'?"  # though lro has more letters in common
    assert nearest("training.epoch", known) == " Did you mean 'training.epochs'?"


@pytest.mark.parametrize("name", [3, None, "x" * 100_000])
def test_a_name_of_another_type_or_of_any_length_is_looked_up_too(name: Any) -> None:
    assert nearest(name, ["avgk"]) == ""


def test_of_a_long_name_the_first_hundred_letters_are_looked_up() -> None:
    known = "a" * 100
    assert nearest(known + "b" * 1000, [known]) == f" Did you mean '{known}'?"
