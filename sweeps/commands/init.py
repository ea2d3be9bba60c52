"""``setsweep init``: a study begun for one's own images."""

from __future__ import annotations

from pathlib import Path

from setsweep.sweeps import read_study
from setsweep.sweeps.commands.exit_codes import DONE
from setsweep.sweeps.study.own_images import look_at, study_name, study_text


def command(folder: Path, *, out: Path | None = None, name: str | None = None) -> int:
    """Write a study for a folder of images (one folder a class), with comments, to run at once and to change.

    Args:
        folder: holds CLASS/IMAGE.jpg, or train/CLASS/IMAGE.jpg beside val and test.
        out: the study file; default: NAME.yaml in the current folder.
        name: of the study; default: that of the folder.
    """
    import torch

    name = name or study_name(folder)
    to = out or Path(f"{name}.yaml")
    if to.exists():
        raise ValueError(f"--out must be a new file, got {str(to)!r}, which is there.")
    images = look_at(folder)
    text = study_text(images, name, gpu=torch.cuda.is_available())
    try:
        to.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ValueError(f"--out must be a file that can be written, got {str(to)!r}: {error.strerror}.") from None
    study = read_study(to)
    print(
        f"{to}: {sum(images.splits):,} images of {images.classes} classes, {len(study.arms)} losses, "
        f"{len(study.arms) * len(study.confirm_seeds)} runs.\n"
        f"setsweep check {to}   all that is wrong with it\n"
        f"setsweep plan {to}    how long it takes\n"
        f"setsweep run {to}     its table"
    )
    return DONE
