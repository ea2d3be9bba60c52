"""What a data set says about itself, so that studies, listings and records need no list of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setsweep.data.dataset import Dataset


@dataclass(frozen=True, kw_only=True)
class DataSetting:
    """One setting of a data set, as plain data; whoever reads a study or a configuration checks values by it.

    Args:
        default: used where nothing is said. Its type is the type of the setting; None: an optional whole number.
        low, high: ends of the legal range, included; `above`, `below`: ends that are not.
        choices: the legal names, where text must be one of some.
        besides: words that are legal beside numbers.
        unit: what it is counted in, e.g. "pixels"; empty where it has none.
        about: what it does, one phrase.
        later: it came after the first results: a run with its default is the run that it was before.
        decides_task: it decides what is measured (classes, examples, splits), so that studies may have it in their grid
            and not in their search, which would choose what is easiest.
    """

    default: Any
    low: float | None = None
    above: float | None = None
    high: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    unit: str = ""
    about: str = ""
    later: bool = False
    decides_task: bool = False


SETTING = "setting"  # under which the metadata of a dataclass's field have its row
LABEL_NOISE = {
    "label_noise": DataSetting(default=0.0, low=0, high=1, about="share of the training labels that are wrong"),
    "label_noise_kind": DataSetting(
        default="exact",
        choices=("exact", "published"),
        about="wrong within superclasses, or drawn anew from blocks of 5 classes as in the papers' code",
        later=True,
    ),
}
CALIBRATION = {
    "calibration": DataSetting(
        default=0.0, low=0, below=1, later=True, decides_task=True,
        about="share of the validation split set apart for conformal sets, drawn from each run's seed",
    )
}  # fmt: skip
OF_RUN = {**LABEL_NOISE, **CALIBRATION}  # what every data set has: applied to what it loads, with the seed of the run
NOISE_BLOCK = 5  # classes, of the published label noise
SPLIT_OF_RUN = "run"  # a split that is drawn from the seed of the run
SPLIT_SEED = DataSetting(
    default=0,
    low=0,
    besides=(SPLIT_OF_RUN,),
    decides_task=True,
    about="of the split into training and validation; run: each run's seed, a copy of the data in memory for each",
)

Contradiction = tuple[str, str]  # a setting, and the rule that it breaks, without a subject


@dataclass(frozen=True, kw_only=True)
class DatasetDeclaration:
    """A data set as study files and listings see it.

    Args:
        name: its name in study files.
        about: one sentence: what it is, how many examples and classes.
        source: where it comes from (citation or package).
        settings: every setting of `data:` that decides the result.
        load: called as ``load(root=..., download=..., **settings)``, where `drawn_per_seed` as
            ``load(seed=..., **settings)``; those of `OF_RUN` are left out, they are applied to what this gives.
        drawn_per_seed: the data is drawn anew from each run's seed (synthetic data), so it is never shared.
        contradictions: of legal settings, those that don't go together.
        num_classes: how many classes there are, or that as a function of all settings; None: only loading it tells.
    """

    name: str
    about: str
    source: str
    load: Callable[..., Dataset]
    settings: Mapping[str, DataSetting] = field(default_factory=dict)
    drawn_per_seed: bool = False
    contradictions: Callable[[Mapping[str, Any]], Iterable[Contradiction]] = lambda settings: ()
    num_classes: int | Callable[[Mapping[str, Any]], int] | None = None

    def defaults(self) -> dict[str, Any]:
        """Every setting with its default."""
        return {name: setting.default for name, setting in self.settings.items()}

    def broken_rules(self, settings: Mapping[str, Any]) -> Iterable[Contradiction]:
        """Of legal settings, all of them, those that don't go together: the data set's own, and the label noise's."""
        yield from self.contradictions(settings)
        classes = self.num_classes(settings) if callable(self.num_classes) else self.num_classes
        if settings.get("label_noise_kind") == "published" and classes is not None and classes % NOISE_BLOCK:
            yield "label_noise_kind", indivisible(classes)


def indivisible(classes: int) -> str:
    """The rule that the published label noise breaks with that many classes, without a subject."""
    return f"must be exact where the classes don't divide into blocks of {NOISE_BLOCK}, got published for {classes}."
