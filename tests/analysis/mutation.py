"""How a rule of the checker is broken.

Each mutant changes one place in the text of one function of the checker. It names a case of the corpus that the broken
checker judges wrongly: an unsafe one that is no longer refused for its fault, or a safe one that is.
"""

from __future__ import annotations
import __future__

import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Mutant:
    """A rule of the checker, broken."""

    name: str
    """What the broken checker believes or forgets."""
    witness: str
    """The case of the corpus that notices: its fault, or `safe`, and the name of its kernel."""
    rule: str
    """The function that holds the rule: its module in the checker, and its name there."""
    old: str
    new: str

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The checker with this rule broken, wherever it is used; it neither keeps proofs nor finds kept ones."""
        module, *owners, name = self.rule.split(".")
        home: Any = importlib.import_module(f"tileproof.analysis.{module}")
        for owner in owners:
            home = getattr(home, owner)
        rule = vars(home)[name]
        broken = rewritten(rule.fget if isinstance(rule, property) else rule, self.old, self.new)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TILEPROOF_CACHE_DIR", "off")
            patch.setattr(home, name, broken)
            for user in [found for key, found in sys.modules.items() if key.startswith("tileproof.analysis.")]:
                for alias, value in list(vars(user).items()):
                    if value is rule:
                        patch.setattr(user, alias, broken)
                    elif isinstance(value, dict) and not alias.startswith("__"):
                        for entry in [entry for entry, held in value.items() if held is rule]:
                            patch.setitem(value, entry, broken)
            yield


def rewritten(rule: Callable[..., Any], old: str, new: str) -> Any:
    """A function made of the text of another, with one place changed."""
    text = textwrap.dedent(inspect.getsource(rule))
    if text.count(old) != 1:
        raise LookupError(f"{rule.__qualname__} has {text.count(old)} places that read: {old}")
    made: dict[str, Any] = {}
    flags = __future__.annotations.compiler_flag
    exec(compile(text.replace(old, new), f"<broken {rule.__qualname__}>", "exec", flags), rule.__globals__, made)
    return made[rule.__name__]
