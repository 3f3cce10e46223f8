"""`tileproof init`: a kernel file, its test, and the settings that make linters understand kernels."""

from __future__ import annotations

import argparse
import keyword
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

from tileproof.compiler.cache import write_whole

from .command_line import Commands, UsageError, add_command

KERNEL = '''\
"""{title}: change the three lines of the body, then run `tileproof check {name}.py`."""

import tileproof as tp
from tileproof import In, Out, f32


@tp.kernel
def {name}(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 1024) -> None:
    """Every element of x, doubled."""
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2
'''

TEST = '''\
"""{title} against numpy, in several sizes and in every order of its programs."""

import numpy as np
import pytest
import tileproof as tp

from {name} import {name}


@pytest.mark.parametrize("size", [0, 1, 7, 64, 100])
@pytest.mark.parametrize("order", ["forward", "reverse", 1])
def test_{name}(size, order):
    x = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    y = np.empty_like(x)
    tp.interpret({name}, y, x, order=order, B=16)
    np.testing.assert_allclose(y, 2 * x, rtol=1e-6)
'''

SETTINGS = """\
# Dimension strings ("M K") are not type expressions, and a kernel's constants are written in capitals.
[tool.ruff.lint]
extend-ignore = ["F722", "F821", "UP037", "N803"]

[tool.pytest.ini_options]
pythonpath = ["."]
"""


TAKEN = {"np", "numpy", "tp", "tileproof", "pytest", "In", "Out", "f32", "n", "x", "y", "size", "order"}
"""Names that mean something in the files that are written, or to what these import."""

EXAMPLES = """\
examples:
  tileproof init                       double.py, test_double.py and pyproject.toml, here
  tileproof init scale --dir kernels   scale.py and its test, in a folder

Then `tileproof check double.py` proves the kernel, and `pytest` tests it.
"""


def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = (
        "Writes NAME.py with a kernel, test_NAME.py with its test, and the settings linters need into\n"
        "pyproject.toml. Nothing that exists is overwritten."
    )
    parser = add_command(commands, "init", summary, description, EXAMPLES)
    parser.add_argument("name", metavar="NAME", nargs="?", default="double", help="the kernel's name (default: double)")
    parser.add_argument("--dir", type=Path, default=Path(), help="where to write (default: here)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    name, folder = options.name, options.dir
    _demand_usable(name)
    files = {folder / f"{name}.py": KERNEL, folder / f"test_{name}.py": TEST}
    existing = [path for path in files if path.exists()]
    if existing:
        raise UsageError(f"{existing[0]} is there already; choose another name, or another --dir")
    settings = folder / "pyproject.toml"
    if not settings.exists():
        files[settings] = SETTINGS
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            title = name.replace("_", " ").capitalize()
            write_whole(path, (text if path == settings else text.format(name=name, title=title)).encode())
            written.append(path)
    except OSError as error:
        for path in written:  # the next try finds the folder as this one did
            with suppress(OSError):
                path.unlink()
        raise UsageError(f"cannot write there: {error}") from None
    for path in files:
        print(f"wrote {path}")
    if settings not in files:
        _tell_settings(settings)
    print(f"\nnext: tileproof check {folder / name}.py, then pytest {folder or '.'}")
    return 0


def _demand_usable(name: str) -> None:
    """Refuses a name that would not be one of Python's, or would hide what Python, pytest or the files need."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"`{name}` cannot be the name of a kernel: use letters, digits and _, as for a function")
    if name in TAKEN or name in sys.stdlib_module_names or name.startswith("test"):
        raise UsageError(f"`{name}` is taken: `{name}.py` would hide a module, or `{name}` a name its test needs")


def _tell_settings(path: Path) -> None:
    """Says what to add to a file that is the user's."""
    try:
        known = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("ruff", {}).get("lint", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        known = {}
    ignored = {*known.get("ignore", ()), *known.get("extend-ignore", ())}
    if not {"F722", "F821"} <= ignored:
        print(f"{path} is yours and was left alone; for ruff, add to it:\n\n{SETTINGS}")
