"""Forms of a kernel: one for each choice of the optional parameters that a launch leaves out.

A form is a kernel of its own, `Kernel.without`: what follows in the compiler and at launch knows nothing of None.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from tileproof.language.kernel import Kernel

from .signature import parse


def present(
    kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Kernel, tuple[Any, ...], dict[str, Any]]:
    """The form that a launch asks for by passing None, and the other arguments, by position and by name."""
    places = tuple([place for place, each in enumerate(args) if each is None])
    by_name = [name for name, value in named.items() if value is None]
    if not places and not by_name:
        return kernel, args, named
    arguments = parse(kernel).signature.arguments
    optional = {each.name for each in arguments if each.is_optional}
    absent = [arguments[place].name for place in places if place < len(arguments)] + by_name
    if not optional.issuperset(absent) or len(args) > len(arguments):
        return kernel, args, named  # what is wrong with them is reported as for any kernel
    form = kernel.without(*absent)
    if not by_name:
        kernel.forms[places] = form
    given = {name: value for name, value in named.items() if value is not None} if by_name else named
    return form, tuple([each for each in args if each is not None]), given


def forms(kernel: Kernel) -> Iterator[Kernel]:
    """A kernel with all its parameters, then without one of the optional ones, and so on."""
    optional = [each.name for each in parse(kernel).signature.arguments if each.is_optional]
    for count in range(len(optional) + 1):
        for absent in combinations(optional, count):
            yield kernel.without(*absent)


def label(kernel: Kernel) -> str:
    """A kernel's name, and what a form of it does without."""
    absent = ", ".join(f"{each.name}=None" for each in parse(kernel).signature.absent) if kernel.absent else ""
    return f"{kernel.name} ({absent})" if absent else kernel.name
