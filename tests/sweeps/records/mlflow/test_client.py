"""What the errors of an MLflow store mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException, RestException
from sqlalchemy.exc import OperationalError

from setsweep.sweeps.records.mlflow.client import (
    VIEW_TAG,
    denial,
    experiment_with,
    innermost,
    is_denial,
    is_refusal,
    recorded_studies,
)

UNAUTHORISED = MlflowException("API request to endpoint /x failed with error code 401 != 200.")
pytestmark = pytest.mark.usefixtures("quiet")


def rest(code: str) -> RestException:
    return RestException({"error_code": code, "message": "no"})


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        (rest("INVALID_PARAMETER_VALUE"), True),
        (rest("RESOURCE_DOES_NOT_EXIST"), True),
        (rest("PERMISSION_DENIED"), True),
        (UNAUTHORISED, True),
        (rest("TEMPORARILY_UNAVAILABLE"), False),
        (rest("INTERNAL_ERROR"), False),
        (ConnectionRefusedError(111, "refused"), False),
        (OperationalError("select", {}, Exception("locked")), False),
        (FileNotFoundError(2, "the model's folder is gone"), True),
        (ValueError("a fault of ours"), True),
    ],
)
def test_what_would_come_again_is_a_refusal_and_what_may_pass_is_none(error: Exception, refusal: bool) -> None:
    assert is_refusal(error) is refusal


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (UNAUTHORISED, "401 (it does not know the user)"),
        (rest("UNAUTHENTICATED"), "401 (it does not know the user)"),
        (rest("PERMISSION_DENIED"), "403 (the user may not)"),
    ],
)
def test_who_is_unknown_is_told_from_who_may_not(error: Exception, said: str) -> None:
    assert is_denial(error)
    assert denial(error) == said
    assert not is_denial(rest("INTERNAL_ERROR"))
    assert not is_denial(ValueError("error code 401 "))


def test_the_first_cause_is_told_in_one_line() -> None:
    def fail() -> None:
        try:
            try:
                raise ConnectionRefusedError("refused\nwith details")
            except ConnectionRefusedError:
                raise KeyError("lost") from None
        except KeyError as error:
            raise RuntimeError("wrapped") from error

    with pytest.raises(RuntimeError) as caught:
        fail()
    assert innermost(caught.value) == "'lost'"  # the one before was suppressed
    assert innermost(ConnectionRefusedError("refused\nwith details")) == "refused"
    assert innermost(TimeoutError()) == "TimeoutError"
    assert len(innermost(ValueError("x" * 999))) == 200


def test_a_store_holds_the_studies_whose_experiments_have_our_views(folder: Path) -> None:
    store = f"sqlite:///{folder}/mlflow.db"  # in full, as MLflow remembers a store by its name
    client = MlflowClient(store)
    client.create_experiment("another's")
    client.create_experiment("older", tags={f"{VIEW_TAG}means": "{}", "owner": "me"})
    newer = client.create_experiment("newer", tags={f"{VIEW_TAG}means": "{}", "owner": "you"})
    client.set_experiment_tag(newer, "touched", "last")
    assert list(recorded_studies(store)) == ["newer", "older"]
    assert experiment_with(store, "owner", "you") == newer
    assert experiment_with(store, "owner", "nobody") is None


def test_a_store_that_is_not_there_has_no_experiment_and_can_not_be_shown(tmp_path: Path) -> None:
    away = f"sqlite:///{tmp_path}/none/mlflow.db"
    (tmp_path / "none").write_text("no folder")
    assert experiment_with(away, "owner", "me") is None
    with pytest.raises(ValueError, match=r"^MLflow must be there to be shown, got sqlite:///.*: "):
        recorded_studies(away)
