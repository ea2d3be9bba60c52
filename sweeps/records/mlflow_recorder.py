"""The recorder: projects results into MLflow on a thread of its own, so that no sweep ever waits for MLflow.

The journal is the truth and is written first; this is a copy of it for browsing. What MLflow has not taken yet waits in
a queue of references to results; MLflow away means longer waits between attempts and a `problem` to show, nothing
else. What could not be written by the end is written by the next recorder that is given the same results.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from setsweep.sweeps.planning.planned_run import PlannedRun
from setsweep.sweeps.records.mlflow.quiet import keep_quiet
from setsweep.sweeps.records.running import Evaluation
from setsweep.sweeps.study.study import Study
from setsweep.trainables.config.run_result import RunResult

if TYPE_CHECKING:
    from setsweep.sweeps.records.mlflow.guard import Guard
    from setsweep.sweeps.records.mlflow.store import MlflowStore
    from setsweep.sweeps.records.mlflow_pages.page import Page

FIRST_DELAY = 0.5  # seconds until the second attempt; doubled after each
LAST_DELAY = 30.0
GATHER_SECONDS = 1.0  # that a result waits for others to be written with


class MlflowRecorder:
    """Records a study in MLflow in the background. Its methods return at once unless they say that they wait.

    Give it every result that the study asks for, those of earlier sessions included: what is recorded already costs
    a look-up.

    Args:
        study: what is recorded; the experiment has its name.
        tracking_uri: an MLflow server or database; None: MLflow's own default.
        owner: the folder whose study it is, see `mlflow_state.owner_of`.

    Attributes:
        experiment_id: of the study's experiment; None until MLflow has answered.
    """

    def __init__(self, study: Study, *, tracking_uri: str | None = None, owner: str = "") -> None:
        self._study, self._owner = study, owner
        self._tracking_uri = tracking_uri
        self._tasks: deque[Callable[[MlflowStore], None]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._hurry = False
        self._problem: str | None = None
        self._refused = 0
        self.experiment_id: str | None = None
        self._thread = threading.Thread(target=self._work, name="mlflow-recorder", daemon=True)

    def start(self) -> None:
        """Begin; an experiment that an earlier process left is taken up."""
        keep_quiet()  # before MLflow is imported, which reads its environment
        self._thread.start()

    def record(self, planned: PlannedRun, result: RunResult) -> None:
        """Take the result of one run."""
        self._put(lambda store: store.write_run(planned, result))

    def group(self, pairs: Sequence[tuple[PlannedRun, RunResult]], planned: int | None = None) -> None:
        """Take the results of the seeds of one configuration; again whenever there are more.

        Args:
            pairs: the runs that have a result.
            planned: how many there will be; None: that is all.
        """
        self._put(lambda store: store.write_aggregate(pairs, planned))

    def running(self, planned: PlannedRun, evaluations: Sequence[Evaluation], began: float, seeds: int) -> None:
        """Take what a run that is being trained has come to; see `MlflowStore.write_running`."""
        self._put(lambda store: store.write_running(planned, evaluations, began, seeds))

    def page(self, page: Page) -> None:
        """Take what the study's own page says so far."""
        self._put(lambda store: store.write_page(page))

    def finish(
        self,
        report: str,
        files: Sequence[Path] = (),
        *,
        status: Literal["FINISHED", "FAILED", "KILLED"] = "FINISHED",
        models: Sequence[tuple[PlannedRun, Path]] = (),
        page: Page | None = None,
        state: str = "",
    ) -> None:
        """Take the end of the sweep; `flush` or `close` next.

        Args:
            report: the tables, in Markdown.
            files: figures and other files, or folders of them.
            status: "KILLED" where the sweep was interrupted and will go on another time.
            models: a run of each chosen configuration and the folder into which it saved ``model.pt``.
            page: what the study's own page says; None: the tables.
            state: names all that is recorded then, see `mlflow_state.state_of`; "" where something is missing.
        """
        for planned, folder in models:
            self._put(partial(_write_model, planned=planned, folder=folder))
        self._put(lambda store: store.write_study(report, files, status, page, state))

    @property
    def problem(self) -> str | None:
        """What keeps results from being recorded, in one line; None while all is well."""
        return self._problem

    @property
    def pending(self) -> int:
        """How many results (and aggregates, models, the report) are not recorded yet, refused ones included."""
        return len(self._tasks) + self._refused

    def flush(self, patience: float = 30.0, working: float = 300.0) -> bool:
        """Wait until everything is written, or give up.

        Args:
            patience: seconds in which attempts fail and nothing is written.
            working: seconds in which nothing is written and nothing fails: a model is a hundred files for the server.

        Returns:
            Whether all is written.
        """
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            waited = 0.0
            while (left := len(self._tasks)) and waited < (patience if self._problem else max(patience, working)):
                waited = (
                    0.0 if self._changed.wait_for(partial(self._fewer, left), timeout=patience) else waited + patience
                )
            self._hurry = False
        return self.pending == 0

    def close(self, patience: float = 30.0, working: float = 300.0) -> bool:
        """`flush`, then stop the thread. Whether all is written."""
        complete = self.flush(patience, working)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(timeout=1.0)
        return complete

    def _fewer(self, tasks: int) -> bool:
        return len(self._tasks) < tasks

    def _put(self, task: Callable[[MlflowStore], None]) -> None:
        with self._changed:
            self._tasks.append(task)
            self._changed.notify_all()

    def _work(self) -> None:
        """Carry out the tasks in order, as many at once as the store writes at once; they leave the queue together."""
        store: MlflowStore | None = None
        guard: Guard | None = None

        def open_store() -> None:
            nonlocal store, guard
            store = _open(self._study, self._tracking_uri, self._owner)
            guard = store.guard()
            self.experiment_id = store.experiment_id

        while self._wait_for_task():
            if store is None:
                self._attempt(open_store, may_refuse=False)
                continue
            self._gather(store.batch)
            done = 0
            while done < min(len(self._tasks), store.batch) and self._attempt(partial(self._tasks[done], store)):
                done += 1
            if self._attempt(store.flush):
                with self._changed:
                    for _ in range(done):
                        self._tasks.popleft()
                    self._changed.notify_all()
        if store is not None and guard is not None:
            with contextlib.suppress(Exception), guard:  # what store.close can't end, the guard tries
                store.close()

    def _attempt(self, action: Callable[[], None], *, may_refuse: bool = True) -> bool:
        """Repeat what fails, longer and longer apart, until it is done or refused for good. False: closed before."""
        delay = FIRST_DELAY
        while not self._closing:
            try:
                action()
            except Exception as error:  # noqa: BLE001 - whatever MLflow does, the sweep goes on
                from setsweep.sweeps.records.mlflow.client import innermost, is_refusal

                self._problem = innermost(error)
                if may_refuse and is_refusal(error):
                    self._refused += 1
                    return True
                self._pause(delay)
                delay = min(2 * delay, LAST_DELAY)
            else:
                if not self._refused:
                    self._problem = None
                return True
        return False

    def _gather(self, batch: int) -> None:
        """Where many are written as one, wait a little for more of them."""
        if batch > 1:
            with self._changed:
                enough = lambda: self._hurry or self._closing or len(self._tasks) >= batch  # noqa: E731
                self._changed.wait_for(enough, timeout=GATHER_SECONDS)

    def _wait_for_task(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._tasks or self._closing)
            return not self._closing

    def _pause(self, seconds: float) -> None:
        """Wait before the next attempt; not longer than the shortest while somebody waits for the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._hurry, timeout=seconds)
        if self._hurry and not self._closing:
            time.sleep(FIRST_DELAY)


def _open(study: Study, tracking_uri: str | None, owner: str) -> MlflowStore:
    from setsweep.sweeps.records.mlflow.store import MlflowStore  # MLflow takes seconds to import: here, on the thread

    keep_quiet()  # once more, after MLflow has set up its own logging
    return MlflowStore(study, tracking_uri, owner)


def _write_model(store: MlflowStore, *, planned: PlannedRun, folder: Path) -> None:
    store.write_model(planned, folder)
