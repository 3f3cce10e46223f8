"""Finding a library: the modules of a package or a folder, their kernels, and the functions that launch these."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tileproof.diagnostics import Diagnostic
from tileproof.language.kernel import Kernel
from tileproof.tuning import Tunable

from ..audit import parse
from ..load import load, package_of, read_source
from ..names import decorated, walk
from ..usage import UsageError, suggestion


@dataclass(frozen=True, slots=True)
class Place:
    """Where a kernel is found, also by another process."""

    file: str
    module: str
    """Empty for a file that belongs to no package."""
    root: str
    """The folder to import the module from."""
    line: int


@dataclass(frozen=True, slots=True)
class Module:
    """A file of the library, loaded."""

    name: str
    """As others import it."""
    file: Path
    names: Mapping[str, Any]
    kernels: tuple[tuple[Place, Kernel], ...]


@dataclass(slots=True)
class Found:
    """A library, loaded."""

    name: str
    version: str
    root: Path
    """The folder that its files are named from."""
    top: Path
    """The whole package it belongs to, or the folder or file itself: what is audited."""
    modules: list[Module] = field(default_factory=list)
    families: Mapping[str, tuple[str, ...]] | None = None
    """The functions of each family, where the package says so in `FAMILIES`."""
    problems: list[str] = field(default_factory=list)

    def shown(self, file: str | Path) -> str:
        """A file, named from the folder that holds the library."""
        try:
            return Path(file).relative_to(self.root).as_posix()
        except ValueError:
            return Path(file).name


# Modules.


def find(target: str) -> Found:
    """Loads the library that a package, a module, a folder or a file is."""
    path = Path(os.path.abspath(target))
    if path.is_dir() or path.is_file():
        return _at(path)
    if os.sep in target or target.endswith(".py"):
        beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        raise UsageError(f"{target}: there is no such file or folder{suggestion(path.name, beside)}")
    return _named(target)


def _named(name: str) -> Found:
    try:
        spec = importlib.util.find_spec(name) if all(part.isidentifier() for part in name.split(".")) else None
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise UsageError(
            f"{name}: no package of that name is installed, and no folder is here{suggestion(name, _packages(name))}"
        )
    if spec.submodule_search_locations:
        return _at(Path(os.path.abspath(next(iter(spec.submodule_search_locations)))))
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise UsageError(f"{name}: it is no Python file, so it holds no kernels")
    return _at(Path(os.path.abspath(spec.origin)))


def _packages(name: str) -> list[str]:
    """What may have been meant: installed packages, and those beside it where it is in a package."""
    parent, _, _ = name.rpartition(".")
    with contextlib.suppress(ImportError, ValueError, AttributeError):
        if parent and (spec := importlib.util.find_spec(parent)) and spec.submodule_search_locations:
            return [f"{parent}.{each.name}" for each in pkgutil.iter_modules(spec.submodule_search_locations)]
    return ["tileproof.kernels", *(each.name for each in pkgutil.iter_modules() if not each.name.startswith("_"))]


def _at(path: Path) -> Found:
    package, importable = package_of(path / "__init__.py" if path.is_dir() else path)
    if path.is_file():
        name = ".".join(filter(None, (package, path.stem)))
    else:
        name = package or path.name
    root = importable if package else path.parent
    top = importable / package.partition(".")[0] if package else path
    found = Found(name, _version(name) if package else "", root, top)
    for file in files_below(path):
        if file.name == "__main__.py":
            continue
        module = _module(file, importable if package else None, found.problems)
        if module is not None:
            found.modules.append(module)
            found.problems += _unseen(found, module)
    if package and path.is_dir():
        found.families = _families(package, found.problems)
    return found


def files_below(path: Path) -> list[Path]:
    """The Python files of a folder, those of packages first; a file itself."""
    found = [] if path.is_dir() else [path]
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if not _is_left_out(Path(folder, name))]
        found += [Path(folder, name) for name in names if name.endswith(".py")]
    return sorted(found, key=lambda file: (file.parent, file.name != "__init__.py", file.name))


def _is_left_out(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name == "__pycache__" or (folder / "pyvenv.cfg").is_file()


def _module(file: Path, root: Path | None, problems: list[str]) -> Module | None:
    """A file, loaded, if it speaks of kernels; None, and a problem, if it cannot be."""
    source = read_source(file)
    if isinstance(source, Diagnostic):
        problems.append(source.message)
        return None
    if not any("kernel" in line for line in source.lines):
        return None
    if root is None:
        loaded = load(str(file))
        problems += [problem.message for problem in loaded.problems]
        names = loaded.kernels[0].function.__globals__ if loaded.kernels else {}
        return Module(file.stem, file, names, tuple((_place(file, "", "", each), each) for each in loaded.kernels))
    name = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    module = _imported(name, root, file, problems)
    if module is None:
        return None
    kernels = {id(each.function): each for each in vars(module).values() if isinstance(each, Kernel)}
    own = sorted(
        (each for each in kernels.values() if each.function.__module__ == name), key=lambda each: each.first_line
    )
    return Module(name, file, vars(module), tuple((_place(file, name, str(root), each), each) for each in own))


def _place(file: Path, module: str, root: str, kernel: Kernel) -> Place:
    return Place(str(file), module, root, kernel.first_line)


def _imported(name: str, root: Path, file: Path, problems: list[str]) -> ModuleType | None:
    sys.path.insert(0, str(root))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        said = str(error).strip().splitlines()
        problems.append(f"importing `{name}` raises {type(error).__name__}{': ' + said[0] if said else ''}")
        return None
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(root))
    where = getattr(module, "__file__", None)
    if where is None or not os.path.samefile(where, file):
        problems.append(f"importing `{name}` gives another file than the one in this folder")
        return None
    return module


def again(place: Place) -> Kernel:
    """The kernel at a place, in this process."""
    module, problems = _loaded(place.file, place.root)
    for _, kernel in () if module is None else module.kernels:
        if kernel.first_line == place.line:
            return kernel
    raise LookupError("; ".join(problems) or f"{place.file} has no kernel at line {place.line}")


@functools.cache
def _loaded(file: str, root: str) -> tuple[Module | None, tuple[str, ...]]:
    problems: list[str] = []
    return _module(Path(file), Path(root) if root else None, problems), tuple(problems)


def _version(package: str) -> str:
    try:
        return version(package.partition(".")[0])
    except PackageNotFoundError:
        return ""


def _unseen(found: Found, module: Module) -> Iterator[str]:
    """Kernels that are made where no name of the module reaches them."""
    seen = {kernel.function.__code__.co_firstlineno for _, kernel in module.kernels}
    source = read_source(module.file)
    tree = source if isinstance(source, Diagnostic) else parse(source)
    if isinstance(tree, Diagnostic):
        return  # importing it has said so
    for node, place in walk(tree):
        if isinstance(node, ast.FunctionDef) and decorated(node, place.scope) == "tileproof.kernel":
            line = min(each.lineno for each in node.decorator_list)
            if line not in seen:
                where = f"{found.shown(module.file)}:{line}"
                yield f"`{node.name}` ({where}) is made inside a function: it is not looked at"


# Functions.


def _families(package: str, problems: list[str]) -> dict[str, tuple[str, ...]] | None:
    said = getattr(sys.modules.get(package), "FAMILIES", None)
    if not isinstance(said, Mapping) or not all(isinstance(each, str) for pair in said.items() for each in pair):
        return None
    families = {}
    for family, names in said.items():
        if importlib.util.find_spec(f"{package}.{family}") is None:
            problems.append(f"`{package}` names a family `{family}`, which is not there")
        else:
            families[family] = tuple(names.split())
    return families


def functions_of(found: Found) -> dict[str, dict[str, FunctionType]]:
    """The functions by family: as `FAMILIES` says, or those of a file's public names that launch a kernel."""
    if found.families is None:
        return {module.name.rpartition(".")[2]: _public(module) for module in found.modules}
    every: dict[str, dict[str, FunctionType]] = {}
    for family, names in found.families.items():
        holder = sys.modules.get(f"{found.name}.{family}")
        every[family] = {}
        for name in names:
            value = getattr(holder, name, None)
            if isinstance(value, FunctionType):
                every[family][name] = value
            elif holder is not None:
                found.problems.append(f"`{found.name}.{family}` has no function `{name}`")
    return every


def _public(module: Module) -> dict[str, FunctionType]:
    listed = module.names.get("__all__")
    chosen = {
        name: value
        for name, value in module.names.items()
        if isinstance(value, FunctionType)
        and value.__module__ == module.names.get("__name__")
        and (name in listed if listed is not None else not name.startswith("_"))
    }
    return {name: value for name, value in chosen.items() if reached(value)[0]}


def reached(function: FunctionType) -> tuple[dict[FunctionType, None], dict[str, Tunable]]:
    """The kernels (by their functions) that a function may launch, and the tunables it chooses by."""
    kernels: dict[FunctionType, None] = {}
    tunables: dict[str, Tunable] = {}
    home = (function.__module__ or "").partition(".")[0]
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case Kernel():
                kernels[value.function] = None
            case Tunable():
                tunables[value.name] = value
                waiting += value.kernels
            case FunctionType() if (value.__module__ or "").partition(".")[0] == home:
                waiting += _named_in(value)
            case functools.partial():
                waiting += [value.func, *value.args, *value.keywords.values()]
            case tuple() | list() | set() | frozenset():
                waiting += value
            case dict():
                waiting += value.values()
            case _ if is_dataclass(value) and not isinstance(value, type):
                waiting += [getattr(value, name) for name in value.__dataclass_fields__]
    return kernels, tunables


def _named_in(function: FunctionType) -> Iterator[Any]:
    """What the names in a function stand for."""
    names = set(_names(function.__code__))
    for name in names:
        value = function.__globals__.get(name)
        yield value
        if isinstance(value, ModuleType):
            yield from (vars(value).get(other) for other in names)
    yield from (cell.cell_contents for cell in function.__closure__ or () if _is_full(cell))
    yield from function.__defaults__ or ()


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


# Words.


def first_words(thing: Any) -> str:
    """The first paragraph of a docstring, in one line."""
    paragraph = (inspect.getdoc(thing) or "").split("\n\n", 1)[0]
    return " ".join(paragraph.split())


def signature_of(function: FunctionType) -> str:
    """`(x, w, eps=1e-06, out=None)`."""
    found = inspect.signature(function)
    empty = inspect.Parameter.empty
    parameters = [each.replace(annotation=empty) for each in found.parameters.values()]
    return str(found.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
