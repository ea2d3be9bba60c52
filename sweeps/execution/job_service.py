"""Ray's job service: a study that was submitted runs on the cluster, and is asked after from any machine."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import ray
import requests
from ray.job_submission import JobDetails, JobStatus, JobSubmissionClient

from setsweep.sweeps.execution.cluster import ClusterError
from setsweep.sweeps.execution.errors import ExecutorError
from setsweep.sweeps.execution.job_files import from_text, to_text

PATIENCE = 10.0  # seconds for a cluster to answer
SILENT_SECONDS = 30.0  # after which a command that says nothing is asked after
STOP_WAIT = "RAY_JOB_STOP_WAIT_TIME_S"
STOP_SECONDS = 90  # for a sweep to stop cleanly, before Ray kills it
STUDY, STORAGE, FILES = "setsweep.study", "setsweep.storage", "setsweep.files"  # what is kept of a job
STATES = {
    JobStatus.PENDING: "waiting",
    JobStatus.RUNNING: "running",
    JobStatus.STOPPED: "stopped",
    JobStatus.SUCCEEDED: "done",
    JobStatus.FAILED: "failed",
}


class LostClusterError(ExecutorError):
    """A cluster that has answered does so no more."""


class UnknownJobError(ExecutorError):
    """A cluster knows nothing of what it was given: it was started anew."""


@dataclass(frozen=True, kw_only=True)
class Submitted:
    """A command that was given to a cluster.

    Args:
        name: its own, by which it is asked after.
        study: what it is about.
        storage: where the study's results are kept on the cluster.
        state: waiting, running, stopped, done or failed.
        began, ended: seconds since 1970; None: not yet.
        exit_code: of the command; None: it has none yet, or was killed.
        message: what Ray says of a command that has failed.
        command: the program and its arguments.
        files: those that went with it, as text; None: they were too many.
        environment: the variables that were set for it.
    """

    name: str
    study: str
    storage: str
    state: str
    began: float | None = None
    ended: float | None = None
    exit_code: int | None = None
    message: str = ""
    command: tuple[str, ...] = ()
    files: str | None = field(default=None, repr=False)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.state in ("stopped", "done", "failed")


class JobService:
    """The job service of one cluster.

    Args:
        address: ``http://HEAD:8265``.
        token: what the cluster asks for; None: nothing.

    Attributes:
        date: of its last answer, by its own clock, as HTTP has it; None: none was told.

    Raises:
        ClusterError: nobody answers there, or somebody else, or the token is another, or Ray is.
    """

    def __init__(self, address: str, token: str | None) -> None:
        self.address = address.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.date: str | None = None
        self._check()
        with _no_other_address():
            self._client = JobSubmissionClient(self.address, headers=dict(self._headers))
        logging.getLogger("ray.dashboard").setLevel(logging.WARNING)  # it tells of every upload

    def ask(self, command: Sequence[str], name: str) -> None:
        """Give the cluster a short command that needs no files; returns at once."""
        self._client.submit_job(entrypoint=shlex.join(command), submission_id=name)

    def submit(
        self,
        command: Sequence[str],
        study: str,
        *,
        storage: str,
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Give the cluster a study to run; returns at once.

        Args:
            command: the program and its arguments; it runs on the head.
            study: what it is about.
            storage: where its results are kept on the cluster.
            folder: files to go with it, in which it runs; the cluster's workers get them too.
            environment: variables for it and for its workers; who has the token can see them.

        Returns:
            The name by which it is asked after.
        """
        name = f"{study}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{uuid4().hex[:4]}"
        about = {STUDY: study, STORAGE: storage}
        if (files := to_text(folder)) is not None:
            about[FILES] = files
        settings = {**(environment or {}), STOP_WAIT: str(STOP_SECONDS)}
        self._client.submit_job(
            entrypoint=shlex.join(command),
            submission_id=name,
            runtime_env={"working_dir": str(folder), "env_vars": settings},
            metadata=about,
        )
        return name

    def again(self, job: Submitted, *more: str) -> str:
        """Give the cluster a study once more, with more arguments where it lacks them; the new job's name.

        Raises:
            ValueError: its files were not kept.
        """
        if job.files is None:
            raise ValueError(
                f"the files of {job.name} must have been kept to go on with it, got too many for that. "
                "'setsweep submit' sends them again."
            )
        with tempfile.TemporaryDirectory(prefix="setsweep-resume-") as folder:
            from_text(job.files, Path(folder))
            command = [*job.command, *(word for word in more if word not in job.command)]
            return self.submit(
                command, job.study, storage=job.storage, folder=Path(folder), environment=job.environment
            )

    def all(self) -> list[Submitted]:
        """What was submitted by Setsweep for a study, the oldest first."""
        jobs = [_read(job) for job in self._client.list_jobs() if STUDY in (job.metadata or {})]
        return sorted(jobs, key=lambda job: job.began or float("inf"))

    def get(self, name: str) -> Submitted:
        """One of them, as it is now.

        Raises:
            LostClusterError: the cluster does not answer.
            UnknownJobError: it has forgotten it.
        """
        path = f"{self.address}/api/jobs/{urllib.parse.quote(name)}"
        try:
            answer = requests.get(path, headers=self._headers, timeout=PATIENCE)
        except requests.RequestException as error:
            raise LostClusterError(f"{self.address} must answer while a study runs: {_reason(error)}.") from None
        if answer.status_code == 404:
            raise UnknownJobError(f"{name} must be known at {self.address}, which was started anew since.")
        if answer.status_code != 200:
            raise LostClusterError(f"{self.address} must answer while a study runs: HTTP {answer.status_code}.")
        return _read(JobDetails(**answer.json()))

    def said(self, name: str) -> str:
        """All that a command has said so far."""
        text: str = self._client.get_job_logs(name)
        return text

    def follow(self, name: str) -> Iterator[str]:
        """What a command says, from its beginning to its end, as it says it.

        Raises:
            LostClusterError: the cluster does not answer any more.
            UnknownJobError: it has forgotten it.
        """
        pieces = self._client.tail_job_logs(name)
        with asyncio.Runner() as runner:
            try:
                while (piece := runner.run(_next(pieces, lambda: self.get(name)))) is not None:
                    yield piece
            except ExecutorError:
                raise
            except (aiohttp.ClientError, RuntimeError, OSError) as error:
                raise LostClusterError(f"{self.address} must answer while a study runs: {error}.") from None

    def stop(self, name: str) -> None:
        """Have a command stop cleanly; returns at once."""
        self._client.stop_job(name)

    @property
    def guarded(self) -> bool:
        """Whether it asks for a token."""
        return requests.get(f"{self.address}/api/version", timeout=PATIENCE).status_code in (401, 403)

    def nodes(self) -> list[Mapping[str, float]]:
        """The resources of each node that is there."""
        answer = self._ask("/api/v0/nodes?limit=10000&detail=true")
        rows = answer["data"]["result"]["result"]
        return [row.get("resources_total") or {} for row in rows if row.get("state") == "ALIVE"]

    def _check(self) -> None:
        """Whether a cluster of this machine's Ray takes jobs there."""
        if not self.address.startswith(("http://", "https://")):
            raise ClusterError(f"--address must be http://HEAD:8265, where a cluster takes jobs, got {self.address!r}.")
        version = self._ask("/api/version").get("ray_version")
        if version != ray.__version__:
            raise ClusterError(
                f"Ray must be the same here and on the cluster, got {ray.__version__} here and {version} at "
                f"{self.address}. 'pip install ray=={version}' brings the cluster's."
            )

    def _ask(self, path: str) -> dict[str, Any]:
        """Ray's answer, as it is or as an error in a sentence."""
        where = f"--address must be where a Ray cluster takes jobs (http://HEAD:8265), got {self.address!r}"
        try:
            response = requests.get(self.address + path, headers=self._headers, timeout=PATIENCE)
        except requests.RequestException as error:
            raise ClusterError(f"{where}: {_reason(error)}.") from None
        self.date = response.headers.get("Date")
        if response.status_code in (401, 403):
            got = "another one" if self._headers else "none"
            raise ClusterError(
                f"The token must be that of the cluster at {self.address}, got {got}. 'setsweep connect' keeps it."
            )
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if response.status_code != 200 or not isinstance(answer, dict):
            raise ClusterError(f"{where}: what answers there is no Ray cluster (HTTP {response.status_code}).")
        return answer


async def _next(pieces: Any, ask_after: Callable[[], object]) -> str | None:
    """The next piece; while none comes it is asked now and then whether any can."""
    coming = asyncio.ensure_future(anext(pieces, None))
    while not coming.done():
        await asyncio.wait([coming], timeout=SILENT_SECONDS)
        if not coming.done():
            await asyncio.to_thread(ask_after)
    return await coming


def _read(job: Any) -> Submitted:
    metadata, variables = job.metadata or {}, (job.runtime_env or {}).get("env_vars") or {}
    return Submitted(
        name=job.submission_id,
        study=metadata.get(STUDY, ""),
        storage=metadata.get(STORAGE, ""),
        state=STATES[job.status],
        began=None if job.start_time is None else job.start_time / 1000,
        ended=None if job.end_time is None else job.end_time / 1000,
        exit_code=job.driver_exit_code,
        message=job.message or "",
        command=tuple(shlex.split(job.entrypoint)),
        files=metadata.get(FILES),
        environment={name: value for name, value in variables.items() if name != STOP_WAIT},
    )


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.Timeout):
        return f"no answer within {PATIENCE:g} s"
    if isinstance(error, requests.ConnectionError):
        return "nobody answers there"
    return str(error)


@contextmanager
def _no_other_address() -> Iterator[None]:
    """Ray's client would prefer the addresses in the environment to the one that it is given."""
    names = ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS")
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
