"""The executor in virtual time: what befalls slots happens, and changes no result."""

from __future__ import annotations

from collections import Counter

import pytest

from setsweep.sweeps.execution.executor import Job
from setsweep.sweeps.execution.simulated_executor import SimulatedExecutor, Weather
from setsweep.trainables.config.run_config import RunConfig, Training
from setsweep.trainables.config.run_result import RunResult


def _job(*seeds: int) -> Job:
    return Job(
        configs=tuple(
            RunConfig(data={}, model={}, loss={"name": "focal"}, training=Training(), k=(1,), seed=seed)
            for seed in seeds
        )
    )


def _outcome(config: RunConfig) -> RunResult:
    return RunResult(key=config.key, status="done", metrics={"val/top1_accuracy": config.seed / 1000})


def _finish(executor: SimulatedExecutor, jobs: int, *, seeds: int = 1) -> list[RunResult]:
    for number in range(jobs):
        executor.submit(_job(*range(number * seeds, (number + 1) * seeds)))
    results: list[RunResult] = []
    while outcomes := executor.wait(0):
        results += [outcome for outcome in outcomes if isinstance(outcome, RunResult)]
    return results


def test_a_job_whose_worker_died_starts_again_before_all_others() -> None:
    executor = SimulatedExecutor(_outcome, slots=1, weather=Weather(loss_rate=0.5))
    results = _finish(executor, 20)
    assert [result.metrics["val/top1_accuracy"] for result in results] == [seed / 1000 for seed in range(20)]
    assert executor.losses > 0
    assert executor.losses == sum(result.attempts - 1 for result in results)
    assert Counter(executor.started.values()) == Counter(result.attempts for result in results)


def test_time_passes_with_the_runs_and_a_slot_is_out_after_its_worker_died() -> None:
    calm = SimulatedExecutor(_outcome, slots=1, weather=Weather())
    _finish(calm, 50)
    assert calm.now == pytest.approx(calm.busy)
    assert calm.utilisation == pytest.approx(1.0)
    assert 300 < calm.now < 800  # 50 exponential durations of 10 s: 500 s, deviation 71 s; seeded
    stormy = SimulatedExecutor(_outcome, slots=1, weather=Weather(loss_rate=0.5, recovery_seconds=30))
    _finish(stormy, 50)
    assert stormy.now == pytest.approx(stormy.busy + 30 * stormy.losses)


def test_slow_slots_take_longer_by_their_factor() -> None:
    fast, slow = (
        SimulatedExecutor(_outcome, slots=1, weather=Weather(slow_share=share, slow_factor=5.0)) for share in (0, 1)
    )
    assert _finish(fast, 10) != _finish(slow, 10), "they finish at other times"
    assert slow.now == pytest.approx(5 * fast.now)


def test_the_same_seed_gives_the_same_weather_and_another_another() -> None:
    ends = []
    for seed in (0, 0, 1):
        executor = SimulatedExecutor(_outcome, slots=3, seed=seed, weather=Weather(loss_rate=0.2, slow_share=0.4))
        _finish(executor, 30, seeds=2)
        ends.append((executor.now, executor.losses))
    assert ends[0] == ends[1] != ends[2]


def test_before_anything_was_submitted_nothing_is_idle() -> None:
    executor = SimulatedExecutor(_outcome, slots=2)
    assert (executor.utilisation, executor.wait(0)) == (1.0, [])
