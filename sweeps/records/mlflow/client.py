"""An MLflow store from the outside: what its errors mean, and which studies it holds."""

from __future__ import annotations

from mlflow import MlflowClient
from mlflow.entities import Experiment
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

from setsweep.sweeps.records.mlflow_address import RESULTS, without_password

VIEW_TAG = "mlflow.sharedViewState."
STUDY_TAG = "study"  # of an experiment: the name of the study in it

_REFUSALS = {
    "BAD_REQUEST",
    "INVALID_PARAMETER_VALUE",
    "INVALID_STATE",
    "RESOURCE_ALREADY_EXISTS",
    "RESOURCE_DOES_NOT_EXIST",
}


def is_refusal(error: Exception) -> bool:
    """Whether the error would come again however often the same thing is tried; else MLflow is just away."""
    if isinstance(error, MlflowException):
        return error.error_code in _REFUSALS or is_denial(error)
    return not isinstance(error, OSError | SQLAlchemyError) or isinstance(error, FileNotFoundError)


def is_denial(error: Exception) -> bool:
    """Whether the server knows the user not, or does not let them do it."""
    denials = {"PERMISSION_DENIED", "UNAUTHENTICATED"}
    return isinstance(error, MlflowException) and (error.error_code in denials or " error code 401 " in str(error))


def denial(error: Exception) -> str:
    """A denial in a few words."""
    unknown = " error code 401 " in str(error) or getattr(error, "error_code", "") == "UNAUTHENTICATED"
    return "401 (it does not know the user)" if unknown else "403 (the user may not)"


def innermost(error: BaseException) -> str:
    """The first line of what started it all; MLflow wraps "connection refused" in three layers of text."""
    while cause := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        error = cause
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def experiment_with(uri: str, tag: str, value: str) -> str | None:
    """The id of the experiment with a tag of that value; None: there is none, or the store does not answer."""
    try:
        found = MlflowClient(uri).search_experiments(filter_string=f"tags.`{tag}` = '{value}'", max_results=1)
    except Exception:  # noqa: BLE001 - the recorder tries again and says what it is
        return None
    return str(found[0].experiment_id) if found else None


def recorded_studies(uri: str) -> dict[str, str]:
    """The studies that a store holds, the one that changed last first: names of experiments to their ids.

    Raises:
        ValueError: the store can't be read.
    """
    try:
        found: list[Experiment] = MlflowClient(uri).search_experiments(order_by=["last_update_time DESC"])
    except Exception as error:  # noqa: BLE001 - whatever it is, the user can be shown nothing
        raise ValueError(f"MLflow must be there to be shown, got {without_password(uri)}: {innermost(error)}") from None
    return {each.name: str(each.experiment_id) for each in found if f"{VIEW_TAG}{RESULTS}" in each.tags}
