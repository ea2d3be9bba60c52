"""Whether a sensitivity study says anything, and where to spend the next runs.

That the best value lies at the edge of what was tried is told by `plateau`, where runs fail by `failures`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy.typing as npt

from setsweep.sweeps.statistics.sensitivity.critical import expected_largest
from setsweep.sweeps.statistics.sensitivity.shares.crossed import REST, grid_shares
from setsweep.sweeps.statistics.sensitivity.two_way import fit_two_way


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Where as many runs again would help more.

    Args:
        more: "seeds" or "trials"; "neither" where configurations cannot be told apart.
        gain_of_seeds, gain_of_trials: by how much the true score of the chosen configuration is expected to rise with
            twice the seeds, and with twice the trials; in scores, 0.01 is one point of accuracy.
        reliability: the share of the variance of mean scores that is the configurations' own, 0 to 1.
        p: of the F test that all configurations are equal; None where nothing varies over seeds.
    """

    more: Literal["seeds", "trials", "neither"]
    gain_of_seeds: float
    gain_of_trials: float
    reliability: float
    p: float | None


def more_runs(scores: npt.ArrayLike, *, confidence: float) -> Advice:
    """Whether twice the seeds or twice the trials would give a better choice.

    With the components of `grid_shares`, sigma_c^2 between configurations and sigma_e^2 of configuration x seed (what
    seeds do to all configurations alike moves no choice), the mean over n seeds has reliability r(n) = sigma_c^2 /
    (sigma_c^2 + sigma_e^2 / n). If true scores are about normal, the best looking of T configurations is expected to
    lie sigma_c m_T sqrt(r(n)) above their mean, m_T being the expected largest of T normal values (Cochran 1951). The
    two gains are that with 2 n seeds, and with 2 T trials, less that with T and n.

    Args:
        scores: (configurations, seeds), the same seeds for all; NaN where a run has none.
        confidence: configurations that do not differ with it get no advice.

    Raises:
        ValueError: what `grid_shares` refuses.
    """
    found = grid_shares(scores, ["configuration"])
    ours, rest = found.of("configuration"), found.of(REST)
    trials, seeds = ours.degrees + 1, rest.degrees // ours.degrees + 1
    # The component is the variance over these configurations; that of those they are a sample of is a little larger.
    between = ours.variance * trials / (trials - 1)

    def reached(configurations: int, runs: int) -> tuple[float, float]:
        reliability = between / (between + rest.variance / runs) if between > 0 else 0.0
        return expected_largest(configurations) * (between * reliability) ** 0.5, reliability

    today, reliability = reached(trials, seeds)
    by_seeds, by_trials = reached(trials, 2 * seeds)[0] - today, reached(2 * trials, seeds)[0] - today
    told = ours.p is None or ours.p <= 1 - confidence
    return Advice(
        more="neither" if not told or between == 0 else "seeds" if by_seeds > by_trials else "trials",
        gain_of_seeds=by_seeds,
        gain_of_trials=by_trials,
        reliability=reliability,
        p=ours.p,
    )


def no_effect(scores: npt.ArrayLike, *, examples: int | None = None) -> float:
    """The p-value of the F test, on logits in the two-way model, that all values of a hyperparameter are equally good.

    Args:
        scores: (values, seeds) accuracies between 0 and 1; NaN where a run has none.
        examples: how many examples an accuracy counts, see `logits`.

    Raises:
        ValueError: what `fit_two_way` refuses.
    """
    return fit_two_way(scores, examples=examples).p_no_effect()
