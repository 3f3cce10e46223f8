"""Finding a library: the modules of a package or a folder, their kernels, and the functions in `FAMILIES`."""

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
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tileproof.cli.audit import Names, decorator, is_left_out, parse, walk
from tileproof.cli.command_line import UsageError, suggestion
from tileproof.cli.kernel_file import load, package_of, read_source
from tileproof.diagnostics import Diagnostic
from tileproof.language.kernel import Kernel


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
    functions: dict[str, tuple[str, FunctionType]] = field(default_factory=dict)
    """The functions that `FAMILIES` of the package lists, each with its family."""
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
            return [f"{parent}.{module.name}" for module in pkgutil.iter_modules(spec.submodule_search_locations)]
    return ["tileproof.kernels", *(module.name for module in pkgutil.iter_modules() if not module.name.startswith("_"))]


def _at(path: Path) -> Found:
    package, importable = package_of(path / "__init__.py" if path.is_dir() else path)
    if path.is_file():
        name = ".".join(filter(None, (package, path.stem)))
    else:
        name = package or path.name
    root = importable if package else path.parent
    top = importable / package.partition(".")[0] if package else path
    result = Found(name, _version(name) if package else "", root, top)
    for file in files_below(path):
        if file.name == "__main__.py":
            continue
        module = _module(file, importable if package else None, result.problems)
        if module is not None:
            result.modules.append(module)
            result.problems += _unseen(result, module)
    if package and path.is_dir():
        _add_functions(result)
    return result


def files_below(path: Path) -> list[Path]:
    """The Python files of a folder, those of packages first; a file itself."""
    results = [] if path.is_dir() else [path]
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if not is_left_out(Path(folder, name))]
        results += [Path(folder, name) for name in names if name.endswith(".py")]
    return sorted(results, key=lambda file: (file.parent, file.name != "__init__.py", file.name))


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
        return Module(file.stem, file, names, tuple((_place(file, "", "", item), item) for item in loaded.kernels))
    name = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    module = _imported(name, root, file, problems)
    if module is None:
        return None
    every = (each for each in vars(module).values() if isinstance(each, Kernel))
    kernels = {id(each.function): each for each in every if not each.absent}
    own = sorted(
        (kernel for kernel in kernels.values() if kernel.function.__module__ == name), key=lambda item: item.first_line
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
        message = str(error).strip().splitlines()
        problems.append(f"importing `{name}` raises {type(error).__name__}{': ' + message[0] if message else ''}")
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


def _unseen(result: Found, module: Module) -> Iterator[str]:
    """Kernels that are made where no name of the module reaches them."""
    seen = {kernel.function.__code__.co_firstlineno for _, kernel in module.kernels}
    source = read_source(module.file)
    tree = source if isinstance(source, Diagnostic) else parse(source)
    if isinstance(tree, Diagnostic):
        return  # importing it has said so
    names = Names(tree)
    for node, _ in walk(tree):
        if isinstance(node, ast.FunctionDef) and decorator(node, names) == "tileproof.kernel":
            line = min(each.lineno for each in node.decorator_list)
            if line not in seen:
                where = f"{result.shown(module.file)}:{line}"
                yield f"`{node.name}` ({where}) is made inside a function: it is not looked at"


# Functions.


def _add_functions(result: Found) -> None:
    """Adds the functions that the package lists: `FAMILIES = {"norms": "rms_norm layer_norm"}`, by file."""
    families = getattr(sys.modules.get(result.name), "FAMILIES", {})
    if not isinstance(families, dict) or not all(isinstance(each, str) for pair in families.items() for each in pair):
        return
    modules = {module.name: module for module in result.modules}
    for family, names in families.items():
        module = modules.get(f"{result.name}.{family}")
        if module is None:
            result.problems.append(f"`{result.name}` names a family `{family}`, which is not there")
            continue
        for name in names.split():
            function = module.names.get(name)
            if isinstance(function, FunctionType):
                result.functions[name] = family, function
            else:
                result.problems.append(f"`{module.name}` has no function `{name}`")


# Words.


def first_paragraph(doc: str | None) -> str:
    """That of a docstring, in one line."""
    return " ".join(inspect.cleandoc(doc or "").split("\n\n", 1)[0].split())


def signature_of(function: FunctionType) -> str:
    """`(x, w, eps=1e-06, out=None)`."""
    result = inspect.signature(function)
    empty = inspect.Parameter.empty
    parameters = [parameter.replace(annotation=empty) for parameter in result.parameters.values()]
    return str(result.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
