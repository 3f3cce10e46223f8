"""`tp.torch_op`: kernels as operators of torch, for `torch.compile`, `torch.export` and autograd.

torch looks into no kernel. It sees an operator that has a schema, which says what is read, written and returned; an
implementation; and a *fake* one, which for tensors without memory makes results of the right shapes. The fake one is
the implementation itself, run with launches left out: so it never disagrees with it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, overload

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.frontend.signature import TensorParameter, parse
from tileproof.ir.types import Access
from tileproof.language.kernel import Kernel, Launcher

from .torch_signature import Form, of_function, of_kernel

_NAME: Final = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*\Z")


@overload
def torch_op(
    name: str, *, backward: Callable[..., Any] | None = None, mutates: Iterable[str] = ()
) -> Callable[[Callable[..., Any]], Any]: ...
@overload
def torch_op(name: str, *, kernel: Kernel, backward: Callable[..., Any] | None = None) -> Any: ...
def torch_op(
    name: str, *, kernel: Kernel | None = None, backward: Callable[..., Any] | None = None, mutates: Iterable[str] = ()
) -> Any:
    """Makes an operator of torch, `"library::name"`, of a function that launches kernels on tensors.

        @tp.torch_op("mylib::rms_norm", backward=rms_norm_backward)
        def rms_norm_op(x, w, eps: float):
            y = torch.empty_like(x)
            rms_norm(y, x, w, eps)
            return y

    Parameters without an annotation are tensors, and so is the result. `mutates` names the parameters that the function
    writes. `kernel=` makes an operator of one kernel, which takes what the kernel reads, and makes and returns what it
    writes; an `InOut` is written where it is:

        add_op = tp.torch_op("mylib::add", kernel=add)

    `backward(saved, *gradients)` is given the gradients of the results, and returns one for each tensor among the
    parameters, or None. `saved` has the parameters by their names, and the results by the kernel's names, or as
    `result`; `saved.needs("x")` says whether a gradient is wanted. What is made is an operator of `torch.library`.
    """
    torch = _torch()
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(f'an operator is named "library::name", not {name!r}')
    if kernel is None:
        return lambda function: _operator(torch, name, of_function(torch, function, mutates), backward)
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel= is a kernel, not {type(kernel).__name__}: decorate it with @tp.kernel")
    if tuple(mutates):
        raise TypeError(f"{kernel.name} says itself what it writes: leave mutates= out")
    return _operator(torch, name, of_kernel(torch, kernel), backward)


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError as error:
        raise ImportError("tp.torch_op makes operators of torch, which is not installed: pip install torch") from error


def _operator(torch: Any, name: str, form: Form, backward: Callable[..., Any] | None) -> Any:
    if backward is not None and form.mutates:
        written = ", ".join(form.mutates)
        raise TypeError(f"{name} writes {written}, and torch differentiates only operators that write no argument: "
                        "return a new tensor, or leave backward= out")  # fmt: skip
    _watch_launches()

    def implementation(*args: Any, **named: Any) -> Any:
        with _running(name, form, args, named), torch.no_grad():
            return form.run(*args, **named)

    def fake(*args: Any, **named: Any) -> Any:
        with _running(name, form, args, named, is_fake=True):
            return form.run(*args, **named)

    def mapped(*_: Any) -> Any:
        message = f"torch.vmap cannot map {name}: its kernels take the axes they were written for"
        cure = "give the kernel the mapped axis as a dimension, or loop over it"
        raise LaunchError(Diagnostic(Code.ARGUMENT_KIND, message, help=cure))

    # The schema is read from these.
    implementation.__signature__ = form.signature  # type: ignore[attr-defined]
    implementation.__annotations__ = {}
    operator = torch.library.custom_op(name, implementation, mutates_args=form.mutates)
    operator.register_fake(fake)
    operator.register_vmap(mapped)
    if backward is not None:
        operator.register_autograd(_gradients(name, form, backward), setup_context=_saving(torch, form))
    operator.__doc__ = form.run.__doc__
    return operator


# Launches within an operator.


@dataclass(frozen=True, slots=True)
class _Running:
    """An operator that runs."""

    name: str
    read_only: Mapping[int, str]
    """The storages of tensors that torch takes for unchanged, and the parameters they came by."""
    is_fake: bool


_current: ContextVar[_Running | None] = ContextVar("tileproof_torch_op", default=None)


@contextmanager
def _running(
    name: str, form: Form, args: Sequence[Any], named: Mapping[str, Any], is_fake: bool = False
) -> Iterator[None]:
    read_only = {
        _storage(tensor): parameter
        for parameter, value in form.named(args, named).items()
        if parameter not in form.mutates
        for tensor in _tensors_in(value)
    }
    token = _current.set(_Running(name, read_only, is_fake))
    try:
        yield
    finally:
        _current.reset(token)


def _storage(tensor: Any) -> int:
    """What tells storages apart, also those without memory."""
    return int(tensor.untyped_storage()._cdata)


def _tensors_in(value: Any) -> list[Any]:
    return [
        item for item in (value if isinstance(value, list | tuple) else (value,)) if hasattr(item, "untyped_storage")
    ]


def _watch_launches() -> None:
    """From the first operator on, launches ask whether they are part of one."""
    from tileproof.runtime.launch.launch import launch

    if getattr(Kernel.launcher, "inner", None) is None:
        Kernel.launcher = _Watched(launch)


@dataclass(frozen=True, slots=True)
class _Watched:
    """Launches, but for those of an operator that only wants to know shapes."""

    inner: Launcher

    def __call__(self, kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        running = _current.get()
        if running is not None:
            _check_writes(running, kernel, args, named)
            if running.is_fake:
                return
        self.inner(kernel, args, named)


def _check_writes(running: _Running, kernel: Kernel, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """What was not declared to torch is not written: it would go on with what it believes the tensor to hold."""
    arguments = parse(kernel).signature.arguments
    values = {**dict(zip((argument.name for argument in arguments), args, strict=False)), **named}
    for parameter in arguments:
        if not isinstance(parameter, TensorParameter) or parameter.access is Access.IN:
            continue
        for tensor in _tensors_in(values.get(parameter.name)):
            owner = running.read_only.get(_storage(tensor))
            if owner is not None:
                message = f"{running.name} writes its parameter `{owner}`, as `{parameter.name}` of `{kernel.name}`"
                cure = f'declare it: `mutates=["{owner}"]`; or write a new tensor and return it'
                raise LaunchError(Diagnostic(Code.READ_ONLY, message, parameter.span, help=cure, kernel=kernel.name))


# Gradients.


@dataclass(frozen=True, slots=True)
class Saved:
    """What `backward` is given of a call: its arguments and results as attributes."""

    _context: Any = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        kept: dict[str, Any] = self._context.tileproof_values
        if name not in kept:
            raise AttributeError(f"nothing called {name} was saved: there is {', '.join(kept)}")
        value = kept[name]
        if isinstance(value, _Places):
            tensors = self._context.saved_tensors[value.first : value.end]
            return list(tensors) if value.is_list else tensors[0]
        return value

    def needs(self, name: str) -> bool:
        """Whether the gradient of a parameter is wanted."""
        wanted = self._context.needs_input_grad[tuple(self._context.tileproof_values).index(name)]
        return any(wanted) if isinstance(wanted, list | tuple) else bool(wanted)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where tensors stand among those that autograd keeps."""

    first: int
    end: int
    is_list: bool


def _saving(torch: Any, form: Form) -> Callable[..., None]:
    def save(ctx: Any, inputs: Any, output: Any, keyword_only_inputs: Mapping[str, Any] | None = None) -> None:
        results = output if isinstance(output, tuple) else (output,)
        names = form.results if len(form.results) == len(results) else ("result",)
        values = form.named(inputs, keyword_only_inputs or {})
        values |= dict(zip(names, results, strict=True)) if len(names) == len(results) else {"result": results}
        tensors: list[Any] = []
        kept: dict[str, Any] = {}
        for name, value in values.items():
            parts = _tensors_in(value)
            is_list = isinstance(value, list | tuple)
            kept[name] = _Places(len(tensors), len(tensors) + len(parts), is_list) if parts else value
            tensors += parts
        ctx.save_for_backward(*tensors)
        ctx.tileproof_values = kept

    return save


def _gradients(name: str, form: Form, backward: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    wanted = form.tensors
    parameters = form.signature.parameters.values()
    positional = [parameter.name for parameter in parameters if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]

    def gradients(ctx: Any, *of_results: Any) -> tuple[Any, ...]:
        result = backward(Saved(ctx), *of_results)
        parts = tuple(result) if isinstance(result, list | tuple) else (result,)
        if len(parts) != len(wanted):
            raise TypeError(f"the backward of {name} gives {len(parts)} gradients, and there are {len(wanted)} tensors "
                            f"among its parameters ({', '.join(wanted)}): return one for each, or None")  # fmt: skip
        by_name = dict(zip(wanted, parts, strict=True))
        # torch leaves out arguments that are their defaults, and counts what it passed.
        return tuple(by_name.get(name) for name in positional[: len(ctx.needs_input_grad)])

    return gradients
