"""Importing a user's file to find the kernels in it; what goes wrong becomes a diagnostic."""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import os
import sys
import tokenize
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

import tileproof
from tileproof.diagnostics import Code, Diagnostic, Source, Span, TileproofError, display_path
from tileproof.language.kernel import Kernel

_numbers = itertools.count()
_NOT_OURS = "correct the file: Python itself cannot read it"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The kernels a file defines in the order of their lines, or why it could not be imported."""

    file: str
    kernels: tuple[Kernel, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


def load(name: str) -> Loaded:
    """Imports a file under a module name of its own, if its text speaks of kernels. What it prints goes to standard
    error."""
    path = Path(os.path.abspath(name))
    file = str(path)
    source = read_source(path)
    if isinstance(source, Diagnostic):
        return Loaded(file, problems=(source,))
    code = compile_source(source)
    if isinstance(code, Diagnostic):
        return Loaded(file, problems=(code,))
    if not any("kernel" in line for line in source.lines):
        return Loaded(file)  # what it imports may not even be installed here
    package, root = package_of(path)
    module = ModuleType(f"{package}.{path.stem}__{next(_numbers)}".lstrip("."))
    module.__file__, module.__package__ = file, package
    sys.modules[module.__name__] = module  # dataclasses and the like look their module up
    with _importable(root, forget=not package), contextlib.redirect_stdout(sys.stderr):
        try:
            if package:
                importlib.import_module(package)
            exec(code, module.__dict__)
        except TileproofError as error:
            return Loaded(file, problems=error.diagnostics)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # that of pytest for a module that is skipped is no Exception
            return Loaded(file, problems=(_import_failed(error, source),))
    every = (value for value in vars(module).values() if isinstance(value, Kernel))
    kernels = {id(value): value for value in every if not value.absent}
    own = [kernel for kernel in kernels.values() if kernel.function.__module__ == module.__name__]
    return Loaded(file, kernels=tuple(sorted(own, key=lambda kernel: kernel.first_line)))


def read_source(path: Path) -> Source | Diagnostic:
    """The text of a Python file, or why it cannot be had."""
    path_text = display_path(str(path))
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        help = f"name the files in it: {os.path.join(path_text, '*.py')}"
        return Diagnostic(Code.NO_FILE, f"`{path_text}` is a folder, not a file", help=help)
    except OSError as error:
        return Diagnostic(
            Code.NO_FILE,
            f"`{path_text}` cannot be read",
            notes=(error.strerror or str(error),),
            help="give the path of a Python file, from the folder you are in",
        )
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        help = "save it as UTF-8"
        return Diagnostic(Code.NOT_PYTHON, f"`{path_text}` is not text", notes=(str(error),), help=help)
    return Source(str(path), tuple(io.StringIO(text, newline=None)))


def compile_source(source: Source) -> CodeType | Diagnostic:
    """The code of a file, or what is wrong with its syntax."""
    try:
        return compile("".join(source.lines), source.name, "exec", dont_inherit=True)
    except SyntaxError as error:
        line, column = error.lineno or 1, max(error.offset or 1, 1)
        end_line, end_column = error.end_lineno or line, error.end_offset or 0
        if (end_line, end_column) <= (line, column):
            end_line, end_column = line, column + 1
        span = Span(source, line, column, end_line, end_column)
        return Diagnostic(Code.NOT_PYTHON, f"the file is not valid Python: {error.msg}", span, help=_NOT_OURS)
    except ValueError as error:
        message = f"`{display_path(source.name)}` is not valid Python: {error}"
        return Diagnostic(Code.NOT_PYTHON, message, help=_NOT_OURS)


def package_of(path: Path) -> tuple[str, Path]:
    """The dotted package a file belongs to (empty for a script), and the folder to import it from."""
    names: list[str] = []
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        names.insert(0, folder.name)
        folder = folder.parent
    return ".".join(names), folder


@contextlib.contextmanager
def _importable(root: Path, forget: bool) -> Iterator[None]:
    """Lets imports find the modules of a folder.

    `forget` drops those that came from it afterwards: the next file may have others of the same names.
    """
    before = set(sys.modules)
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(root))
        new = set(sys.modules) - before if forget else set()
        siblings = {name for name in new if "." not in name and _lies_in(sys.modules[name], root)}
        for name in new:
            if name.partition(".")[0] in siblings:
                del sys.modules[name]


def _lies_in(module: ModuleType, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and folder in (Path(file).parent, Path(file).parent.parent)


def _import_failed(error: BaseException, source: Source) -> Diagnostic:
    """The finding for a file that raises, pointing at the last line of the file itself that was running."""
    text = str(error).strip()
    raised = type(error).__name__ + (f": {text}" if text else "")
    if isinstance(error, ModuleNotFoundError):
        help = "install the module, or run the command with the Python that has it"
    elif isinstance(error, NameError) and error.name in tileproof.__all__:
        help = f"import it: `from tileproof import {error.name}`"
    elif isinstance(error, ImportError) and error.name == "tileproof" and "'bool'" in text:
        help = "leave it out: Python's own `bool` is the element type"
    else:
        help = 'kernels are found by importing the file: keep other work under `if __name__ == "__main__":`'
    return Diagnostic(
        Code.IMPORT_FAILED,
        f"importing `{display_path(source.name)}` raises {raised.splitlines()[0]}",
        last_line(error.__traceback__, source),
        label="raised here",
        help=help,
    )


def last_line(trace: TracebackType | None, source: Source) -> Span | None:
    """The last line of a file that was running when something was raised."""
    frames = [frame for frame in traceback.extract_tb(trace) if frame.filename == source.name]
    if not frames or frames[-1].lineno is None:
        return None
    frame = frames[-1]
    line, text = frames[-1].lineno, source.line(frames[-1].lineno)
    indent = len(text) - len(text.lstrip())
    if frame.colno is None or frame.end_colno is None or frame.end_lineno is None:
        return Span(source, line, indent + 1, line, len(text.rstrip()) + 1)
    end = _characters(source.line(frame.end_lineno), frame.end_colno)
    return Span(source, line, _characters(text, frame.colno) + 1, frame.end_lineno, end + 1)


def _characters(text: str, bytes_before: int) -> int:
    """Python counts the columns of a traceback in bytes."""
    return len(text.encode()[:bytes_before].decode(errors="ignore"))
