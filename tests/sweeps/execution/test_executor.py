"""Jobs and their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from setsweep.sweeps.execution.executor import Job

MakeJob = Callable[..., Job]


def _group(make_job: MakeJob, *seeds: int) -> Job:
    return Job(configs=tuple(make_job(seed).configs[0] for seed in seeds))


def test_a_job_of_one_run_has_its_key_wherever_it_is_kept_and_however_often_it_was_started(make_job: MakeJob) -> None:
    job = make_job(3)
    assert job.key == job.configs[0].key
    assert replace(job, root="/data", attempts=3).key == job.key
    assert job.outcome_keys == (job.key,)


def test_a_job_of_several_runs_is_named_by_all_of_them_in_their_order(make_job: MakeJob) -> None:
    group = _group(make_job, 0, 1)
    others = [_group(make_job, *seeds) for seeds in ((1, 0), (0, 2), (0, 1, 2), (0,), (1,))]
    assert len({group.key, *(other.key for other in others)}) == 1 + len(others)
    assert _group(make_job, 0, 1).key == group.key
    assert len(group.key) == 16
    assert group.outcome_keys == tuple(config.key for config in group.configs)


def test_a_probe_is_no_training_of_the_same_runs_and_has_one_outcome(make_job: MakeJob) -> None:
    for group in (_group(make_job, 0), _group(make_job, 0, 1)):
        probe = replace(group, probe=True)
        assert probe.key != group.key
        assert probe.outcome_keys == (probe.key,)
