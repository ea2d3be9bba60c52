"""The seeds of one configuration that train together, from epoch to epoch; a single seed is a group of one.

The loop waits for the device at the end of an epoch and of an evaluation, and for a checkpoint when one is due, but not
in a step. A group holds, as its checkpoint does, one copy of the weights for each epoch that some metric reports. These
copies lie in the main memory, as runs may share a GPU: each is one transfer after an evaluation, which waits for the
device anyway.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from setsweep.data.dataset import Dataset
from setsweep.trainables.checkpoint import Saver
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.conformal.calibration import check_calibration
from setsweep.trainables.device import random_state, set_random_state
from setsweep.trainables.evaluation.history import History
from setsweep.trainables.evaluation.kept.score_store import ScoreWriter
from setsweep.trainables.evaluation.kept.scored_splits import SplitName
from setsweep.trainables.evaluation.split_measure import SplitMeasure
from setsweep.trainables.learners.build import build_learner
from setsweep.trainables.learners.initial import training_feed
from setsweep.trainables.learners.optimizers import learning_rate
from setsweep.trainables.places import AnyPath

Report = Callable[[int, int, Mapping[str, float]], None]  # called with the seed, the epoch and its metrics


class SeedGroup:
    """The seeds of one configuration that train together."""

    def __init__(
        self,
        configs: Sequence[RunConfig],
        datasets: Sequence[Dataset],
        criteria: Sequence[str | None],
        device: torch.device,
        score_folders: Sequence[AnyPath | None] = (),
    ) -> None:
        self.training, self.test, self.device = configs[0].training, configs[0].test, device
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        self._score_folders = score_folders or [None] * len(configs)
        self._datasets, self._seeds, self._coverage = datasets, [each.seed for each in configs], configs[0].coverage
        for config, dataset in zip(configs, datasets, strict=True):
            check_calibration(config.coverage, dataset)
        self.histories = [
            History(config, criterion, keep_scores=folder is not None)
            for config, criterion, folder in zip(configs, criteria, self._score_folders, strict=True)
        ]
        self.feeds = [training_feed(config, dataset, device) for config, dataset in zip(configs, datasets, strict=True)]
        self.learner = build_learner(configs, datasets, device)
        self.measure = SplitMeasure(configs[0], datasets, device)
        self.epoch = 0  # finished epochs
        self.step = 0  # finished steps of the epoch in progress
        self.loss_sum = torch.zeros(len(configs), device=device)
        self.seconds = 0.0  # spent before the last resume
        self.clock = time.perf_counter()

    def finish(self, saver: Saver, on_epoch: Report | None) -> None:
        """Train to the end, or until every seed has diverged or run out of patience; then test, and keep scores."""
        while self.more:
            self.advance(saver, on_epoch)
            saver.stop_if_asked(self.state)  # an evaluation is not done twice
        if any(history.reason is None for history in self.histories):
            self._show_kept_epochs()

    @property
    def more(self) -> bool:
        """Whether there is an epoch left, and a seed to train in it."""
        return self.epoch < self.training.epochs and self._going()

    def advance(self, saver: Saver, on_epoch: Report | None) -> None:
        """Train for an epoch, and evaluate where that is due."""
        training = self.training
        losses = self._train_epoch(saver)
        for history, loss in zip(self.histories, losses, strict=True):
            history.check_loss(self.epoch, loss)
        if self.epoch == training.epochs:
            for history, finite in zip(self.histories, self.learner.finite(), strict=True):
                history.check_weights(self.epoch, finite)
        if self._going() and (self.epoch % training.evaluate_every == 0 or self.epoch == training.epochs):
            self._validate(losses, on_epoch)

    def _going(self) -> bool:
        return any(history.going for history in self.histories)

    def _train_epoch(self, saver: Saver) -> list[float]:
        """The mean training loss of each seed over an epoch."""
        num_examples, batch_size, steps = self.feeds[0].num_examples, self.feeds[0].batch_size, self.feeds[0].steps
        for batches in zip(*(feed.epoch(skip=self.step) for feed in self.feeds), strict=True):
            lr = learning_rate(self.training, epoch=self.epoch, batch_size=batch_size, step=self.step, steps=steps)
            self.loss_sum += self.learner.step(batches, lr) * len(batches[0].labels)
            self.step += 1
            saver.maybe(self.state)
        losses = [loss / num_examples for loss in self.loss_sum.tolist()]
        self.epoch += 1
        self.step = 0
        self.loss_sum.zero_()
        return losses

    def _validate(self, losses: Sequence[float], on_epoch: Report | None) -> None:
        measured = self.measure(self.learner, "val")
        for seed, (history, loss, val) in enumerate(zip(self.histories, losses, measured, strict=True)):
            if history.going:
                metrics = history.add(self.epoch, loss, val, lambda seed=seed: self.learner.weights(seed))  # type: ignore[misc]
                if on_epoch is not None:
                    on_epoch(history.config.seed, self.epoch, metrics)
        self._give_up()

    def _give_up(self) -> None:
        """Stop all seeds where together they are behind what their configuration says they must have reached."""
        stopping = self.histories[0].config.stopping
        if stopping is None or self.epoch == self.training.epochs:
            return
        values = {history.config.seed: history.objective(stopping.metric) for history in self.histories}
        if stopping.stops(self.epoch, values):
            for history in self.histories:
                if history.going:
                    history.pruned = self.epoch

    def _show_kept_epochs(self) -> None:
        """Test the model of every epoch that some metric reports, once each, with its own thresholds; keep its scores.

        The n-th epochs kept by the seeds are shown together; a seed that keeps fewer shows its last again, and one
        that diverged before it had any shows what it has, to no effect.
        """
        writers = self._score_writers()
        if not self.test and not writers:
            return
        weights = self.learner.weights
        waiting = [list(history.kept.items()) for history in self.histories]
        for turn in range(max(map(len, waiting))):
            shown = [
                kept[min(turn, len(kept) - 1)] if kept else (0, (dict.fromkeys(history.config.k, 0.0), weights(seed)))
                for seed, (history, kept) in enumerate(zip(self.histories, waiting, strict=True))
            ]
            self.learner.load_weights([kept for _, (_, kept) in shown])
            if self.test:
                self._test([(epoch, thresholds) for epoch, (thresholds, _) in shown])
            if writers:
                self._keep_scores(writers, [epoch for epoch, _ in shown])
        for writer in writers.values():
            writer.finish()

    def _test(self, shown: Sequence[tuple[int, Mapping[int, float]]]) -> None:
        """Test the models as they are: those of these epochs, with their thresholds."""
        conformal = self.measure.calibrate(self.learner, self._seeds) if self._coverage else []
        measured = self.measure(self.learner, "test", [thresholds for _, thresholds in shown], conformal)
        for history, (epoch, _), test in zip(self.histories, shown, measured, strict=True):
            history.best.add_test(epoch, test)
        for history, (epoch, _), (_, calibrated) in zip(self.histories, shown, conformal, strict=bool(conformal)):
            history.conformal[epoch] = calibrated

    def _score_writers(self) -> dict[int, ScoreWriter]:
        """Those of the seeds whose scores are kept, by their position; of a seed that has diverged none are."""
        return {
            seed: ScoreWriter(folder, history.config, self._datasets[seed])
            for seed, (history, folder) in enumerate(zip(self.histories, self._score_folders, strict=True))
            if folder is not None and history.reason is None
        }

    def _keep_scores(self, writers: Mapping[int, ScoreWriter], epochs: Sequence[int]) -> None:
        splits: list[SplitName] = ["val", "test"] if self.test else ["val"]
        splits += ["calibration"] if self.test and self._datasets[0].calibration is not None else []
        scores = {split: self.measure.heads(self.learner, split) for split in splits}
        for seed, writer in writers.items():
            writer.add(epochs[seed], {split: of_seeds[seed] for split, of_seeds in scores.items()})

    def state(self) -> dict[str, Any]:
        """All that the rest of the training depends on."""
        return {
            "learner": self.learner.state(),
            "feeds": [feed.state() for feed in self.feeds],
            "histories": [history.state() for history in self.histories],
            "epoch": self.epoch,
            "step": self.step,
            "loss_sum": self.loss_sum,
            "global": random_state(self.device),
            "seconds": self.seconds + time.perf_counter() - self.clock,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        self.learner.restore(state["learner"])
        for feed, saved in zip(self.feeds, state["feeds"], strict=True):
            feed.restore(saved)
        for history, saved in zip(self.histories, state["histories"], strict=True):
            history.restore(saved)
        self.epoch, self.step, self.seconds = state["epoch"], state["step"], state["seconds"]
        self.loss_sum = state["loss_sum"].to(self.loss_sum.device)
        set_random_state(state["global"], self.device)
