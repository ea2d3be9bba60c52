"""What MLflow does in our process unless the user says otherwise: no telemetry, no chatter, and no minutes of silent
retries inside one call, because the recorder retries itself. No MLflow needed: call it before MLflow is imported.
"""

from __future__ import annotations

import logging
import os
import warnings

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}

# Warnings of MLflow about itself, with which nobody who runs a sweep can do anything.
WARNINGS = (
    r"The ``noload`` loader strategy is deprecated",
    r".*Any type hint is inferred as AnyType",
    r".*An input example was not provided when logging the model",
)


def keep_quiet() -> None:
    """Set MLflow's environment variables that are not set, and silence what it logs and warns of."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    for message in WARNINGS:
        warnings.filterwarnings("ignore", message=message)
    if "MLFLOW_LOGGING_LEVEL" not in os.environ:
        for chatty in ("mlflow", "alembic", "urllib3"):
            logging.getLogger(chatty).setLevel(logging.CRITICAL)  # the recorder's `problem` says what matters
