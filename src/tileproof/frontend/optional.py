"""Forms of a kernel: one for each choice of the optional parameters that a launch leaves out.

A form is a kernel of its own, `Kernel.without`: what follows in the compiler and at launch knows nothing of None.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from tileproof.language.kernel import Kernel

from .signature import Signature, TensorParameter, parse


def present(
    kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Kernel, tuple[Any, ...], dict[str, Any]]:
    """The form that a launch asks for by passing None, and the other arguments, by position and by name."""
    signature = parse(kernel).signature
    arguments = signature.arguments
    places = [place for place, each in enumerate(args) if each is None]
    by_name = [name for name, value in named.items() if value is None]
    if not places and not by_name and signature.leading is None:
        return kernel, args, named
    optional = {each.name for each in arguments if each.is_optional}
    absent = [arguments[place].name for place in places if place < len(arguments)] + by_name
    if not optional.issuperset(absent) or len(args) > len(arguments):
        return kernel, args, named  # what is wrong with them is reported as for any kernel
    form = kernel.without(*absent)
    if signature.leading is not None:
        kernel.ranked = _ranked(signature)
        count = kernel.form_key(args)[0]
        form = form.with_leading(count) if kernel.leading == 1 and count >= 0 else form
    if form is kernel:
        return kernel, args, named
    if not by_name:
        kernel.forms[kernel.form_key(args)] = form
    given = {name: value for name, value in named.items() if value is not None} if by_name else named
    return form, tuple([each for each in args if each is not None]), given


def _ranked(signature: Signature) -> tuple[int, int]:
    """The place of the first tensor with leading axes that is always there, and how many other axes it has."""
    place, tensor = next(
        (place, each) for place, each in enumerate(signature.arguments) if each.name == signature.leading_of
    )
    assert isinstance(tensor, TensorParameter)
    return place, len(tensor.dimensions) - len(signature.leading_axes)


def forms(kernel: Kernel) -> Iterator[Kernel]:
    """A kernel with all its parameters, then without one of the optional ones, and so on.

    Each with one leading axis, then with none and with two: with more, only more of the same walkers are added.
    """
    signature = parse(kernel).signature
    optional = [each.name for each in signature.arguments if each.is_optional]
    for leading in (1, 0, 2) if signature.leading is not None and kernel.leading == 1 else (kernel.leading,):
        for count in range(len(optional) + 1):
            for absent in combinations(optional, count):
                yield kernel.without(*absent).with_leading(leading)


def label(kernel: Kernel) -> str:
    """A kernel's name, and what a form of it does without."""
    if not kernel.absent and kernel.leading == 1:
        return kernel.name
    signature = parse(kernel).signature
    parts = [f"{each.name}=None" for each in signature.absent]
    if kernel.leading != 1:
        parts.append(f"{signature.leading}... of {kernel.leading} axes")
    return f"{kernel.name} ({', '.join(parts)})"
