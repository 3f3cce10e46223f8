"""`tileproof cache`: prints where compiled kernels are cached and how large they are, and removes them."""

from __future__ import annotations

import argparse
import json
import sys
import warnings

from tileproof.backends.cuda.device.loaded_code import Code
from tileproof.compiler.cache import Cache, CacheWarning, Info, default
from tileproof.diagnostics.values import in_words

from .command_line import Commands, add_command

EXAMPLES = """\
examples:
  tileproof cache info                where compiled kernels are, how many, how much room they take
  tileproof cache info --format json  the same, for a script
  tileproof cache clear               remove all of them; kernels are compiled again when they are needed
  tileproof cache path                the folder alone, as in: du -sh "$(tileproof cache path)"

Two environment variables configure it:

  TILEPROOF_CACHE_DIR=.cache/kernels  another folder; `off` disables the cache
  TILEPROOF_CACHE_LIMIT=2GB           the size limit (default: 1GiB); the least recently used entries go first

A damaged entry is never used, so there is no need to clear after a crash. The folder must be yours alone, because
code in it runs with your rights. The exit code is 0, 1 if `clear` cannot write to the folder or `path` finds none, 2
for wrong usage.
"""



def add(commands: Commands, summary: str) -> None:
    """Adds the command to the parser."""
    description = "Shows or clears the folder in which compiled kernels are kept for later processes."
    parser = add_command(commands, "cache", summary, description, EXAMPLES)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    info = actions.add_parser("info", help="where the kernels are, how many, and how much room they take")
    info.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    info.set_defaults(run=_info)
    clear = actions.add_parser("clear", help="remove every kernel that is kept")
    clear.set_defaults(run=_clear)
    path = actions.add_parser("path", help="print the folder")
    path.set_defaults(run=_path)


def _info(options: argparse.Namespace) -> int:
    cache = configured()
    info, cubins = cache.info(), _cubins(cache)
    print(_json(info, cubins) if options.format == "json" else _table(info, cubins))
    return 0


def _clear(options: argparse.Namespace) -> int:
    cache = configured()
    entries, size = cache.clear()
    info = cache.info()
    if info.path is None:
        print(f"there is no cache: {info.problem}")
        return 0
    print(f"removed {entry_count(entries)}, {in_words(size)}, from {info.path}")
    if info.problem:
        print(f"the folder could not be cleared: {info.problem}")
    return 1 if info.problem else 0


def _path(options: argparse.Namespace) -> int:
    info = configured().info()
    if info.path is None:
        print(f"tileproof cache: there is no cache: {info.problem}", file=sys.stderr)
        return 1
    print(info.path)
    return 0


def configured() -> Cache:
    """The cache that the environment names. What is wrong with its variables goes to stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CacheWarning)
        cache = default()
    for warning in caught:
        print(f"tileproof cache: {warning.message}", file=sys.stderr)
    return cache


def _cubins(cache: Cache) -> tuple[int, int]:
    """How many entries are code for a GPU, and their bytes. An entry names its kind where it begins."""
    sizes = [size for head, size in cache.heads() if Code.__module__.encode() in head]
    return len(sizes), sum(sizes)


def _table(info: Info, cubins: tuple[int, int]) -> str:
    rows = [
        ("folder", "none" if info.path is None else str(info.path)),
        ("holds", f"{entry_count(info.entries)}, {in_words(info.bytes)}"),
        ("cubins", f"{entry_count(cubins[0])}, {in_words(cubins[1])}"),
        ("limit", in_words(info.limit)),
        ("state", f"keeps nothing: {info.problem}" if info.problem else "works"),
    ]
    return "\n".join(f"{name:<7} {value}" for name, value in rows)


def _json(info: Info, cubins: tuple[int, int]) -> str:
    document = {
        "format": 1,
        "path": None if info.path is None else str(info.path),
        "entries": info.entries,
        "bytes": info.bytes,
        "cubins": cubins[0],
        "cubin_bytes": cubins[1],
        "limit": info.limit,
        "problem": info.problem,
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def entry_count(entries: int) -> str:
    """`1 entry`, `12 entries`."""
    return f"{entries} {'entry' if entries == 1 else 'entries'}"
