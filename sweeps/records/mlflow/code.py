"""What an MLflow model carries with it, so that it answers where Setsweep is not installed: code and requirements.

The code is that of losses, data and trainables, and the user's own modules that the model is made of. It could not be
a requirement: a registry's package of Setsweep's name may be anybody's.
"""

from __future__ import annotations

import ast
import importlib.util
import shutil
import sys
from importlib.metadata import packages_distributions, version
from pathlib import Path

import setsweep.data
import setsweep.losses
import setsweep.trainables

OWN = "setsweep"
LOADER = "setsweep_model"  # the module by which MLflow loads the model
LOAD = f'''\
"""Loads the model with the code that it carries."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("{OWN}.zip")))

from setsweep.trainables.evaluation.served import _load_pyfunc
'''
PACKAGES = (setsweep.losses, setsweep.data, setsweep.trainables)
LEFT_OUT = ("ray_trainable.py", "__main__.py")  # what serves nobody


def copy_code(folder: Path, user_functions: list[str]) -> list[str]:
    """Copy the code into `folder`.

    Args:
        folder: must exist.
        user_functions: ``package.module:function``, whose packages go along.

    Returns:
        The paths for MLflow's `code_paths`.
    """
    for package in PACKAGES:
        source = Path(package.__path__[0])
        shutil.copytree(source, folder / OWN / source.name, ignore=_ignored)
    packages = dict.fromkeys(name.partition(":")[0].partition(".")[0] for name in user_functions)
    return [str(folder / OWN), *(_copy_user_package(name, folder) for name in packages)]


def pack_code(folder: Path) -> list[str]:
    """Put Setsweep's own code, as `copy_code` has copied it, into one file: a store takes each file by itself.

    Args:
        folder: in which it is.

    Returns:
        The paths for MLflow's `code_paths` that take the place of the code's folder.
    """
    packed = shutil.make_archive(str(folder / OWN), "zip", root_dir=folder, base_dir=OWN)
    shutil.rmtree(folder / OWN)
    loader = folder / f"{LOADER}.py"
    loader.write_text(LOAD, encoding="utf-8")
    return [packed, str(loader)]


def requirements(folder: Path) -> list[str]:
    """What the code in `folder` imports, as ``name==version`` of what is installed here; MLflow as well."""
    imported = {name for path in folder.rglob("*.py") for name in _imports(path.relative_to(folder), folder)}
    inside = {path.stem for path in folder.iterdir()} | sys.stdlib_module_names
    known = packages_distributions()
    names = {known[name][0] for name in imported - inside if name in known} | {"mlflow"}
    return sorted(f"{name}=={_public(version(name))}" for name in names)


def _ignored(folder: str, names: list[str]) -> set[str]:
    kept = {name for name in names if name.endswith(".py") and name not in LEFT_OUT}
    return {name for name in names if name not in kept and (name == "__pycache__" or "." in name)}


def _copy_user_package(name: str, folder: Path) -> str:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ValueError(f"{name} must be a module that can be imported, got none.")
    source = Path(spec.origin)
    if source.name == "__init__.py":
        shutil.copytree(source.parent, folder / name, ignore=_ignored)
        return str(folder / name)
    shutil.copy(source, folder)
    return str(folder / source.name)


def _imports(path: Path, folder: Path) -> set[str]:
    """The packages that a file imports when it is imported; of models and the user's modules, inside functions as well.

    Those functions are called when the model is built; the others of Setsweep read data sets, which serving does not.
    """
    tree = ast.parse((folder / path).read_text(encoding="utf-8"))
    whole = path.parts[0] != OWN or "models" in path.parts
    found: set[str] = set()
    for node in ast.walk(tree) if whole else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _public(full: str) -> str:
    """A version without its local part, which no registry has: 2.11.0+cpu is 2.11.0."""
    return full.partition("+")[0]
