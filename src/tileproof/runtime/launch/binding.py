"""Arguments against a signature: counts, kinds, element types, alignment, ranks, dimensions, constants.

Everything is read from the arguments once, into a `Bound`; checks and the launch use that record. A mistake raises
`LaunchError` before anything is touched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any, NoReturn

import numpy as np

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, Label, LaunchError
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.values import formatted
from tileproof.frontend.dimensions import resolve
from tileproof.frontend.signature import (
    Anything,
    ConstantParameter,
    ContentOf,
    ScalarParameter,
    Signature,
    TensorParameter,
    cure_for,
    takes,
)
from tileproof.frontend.specialization import ConstantValue, Specialization
from tileproof.ir.types import Access, Fixed, Named
from tileproof.language.dtypes import BOOL, F32, I32, I64, DType, DTypeVar, by_storage, limits
from tileproof.runtime.interop.describe import (
    Array,
    Described,
    Unusable,
    address_of,
    check_writeable,
    described,
    on_host,
)
from tileproof.runtime.memory.block import Block
from tileproof.runtime.tensor.tensors import Tensor


@dataclass(slots=True)
class Bound:
    """Arguments that fit their signature."""

    tensors: dict[str, Any] = field(default_factory=dict)
    """Numpy arrays, also over the memory of others; or what `describe.described` says of arrays on a GPU."""
    scalars: dict[str, bool | int | float] = field(default_factory=dict)
    dimensions: dict[str, int] = field(default_factory=dict)
    dtypes: dict[str, DType] = field(default_factory=dict)
    constants: dict[str, ConstantValue] = field(default_factory=dict)
    device: int | None = None
    """The GPU that all tensors are on; None for the CPU."""
    own: dict[str, Tensor] = field(default_factory=dict)
    """Those that are tensors of our own."""
    guards: list[tuple[Block, int]] = field(default_factory=list)
    """Memory whose contents were looked at, and its version then."""
    copies: list[Any] = field(default_factory=list)
    """Memory of the launch's own in place of premises that others can write: `premises.Copy`."""
    args: tuple[Any, ...] | None = None
    """The arguments as they were given; None if some were given by name."""
    constants_given: Mapping[str, Any] = field(default_factory=dict)
    """The constants of the launch, as they were given."""

    @property
    def keep(self) -> tuple[Any, ...]:
        """What keeps the memory of the arguments."""
        return (*self.tensors.values(), *self.own.values(), *self.copies)

    @property
    def specialization(self) -> Specialization:
        return Specialization(tuple(self.dtypes.items()), tuple(self.constants.items()))


def fail(
    signature: Signature, code: Code, message: str, parameter: Any = None, *, labels: tuple[Label, ...] = (),
    notes: tuple[str, ...] = (), help: str = "", label: str = "",
) -> NoReturn:  # fmt: skip
    """Raises `LaunchError`, pointing at the parameter in the kernel's signature."""
    span = signature.span if parameter is None else parameter.span
    diagnostic = Diagnostic(code, message, span, label, labels, notes, help, kernel=signature.name)
    raise LaunchError(diagnostic) from None


def bind(signature: Signature, args: tuple[Any, ...], named: Mapping[str, Any]) -> Bound:
    """The arguments of a launch, checked and sorted."""
    values = _by_name(signature, args, named)
    bound = Bound()
    if len(args) == len(signature.arguments):
        bound.args, bound.constants_given = args, named
    seen: dict[str, TensorParameter] = {}
    for tensor in signature.tensors:
        array = _array(signature, tensor, values)
        _bind_device(signature, tensor, array, bound)
        bound.tensors[tensor.name] = array
        if type(values[tensor.name]) is Tensor:
            bound.own[tensor.name] = values[tensor.name]
        _bind_dtype(signature, tensor, array, bound)
        _check_alignment(signature, tensor, array)
        _bind_dimensions(signature, tensor, array, bound, seen)
    for constant in signature.constants:
        name = constant.name
        is_named = name in named or name in signature.axes
        if name in signature.static and is_named and name not in bound.dimensions:
            extent = int(_constant_value(signature, constant, named))  # type: ignore[arg-type]
            if extent < 0:
                message = f"`{name}` is walked, so it is an extent, and {extent} is given"
                fail(signature, Code.CONSTANT_VALUE, message, constant, help="give an extent of at least 0")
            bound.dimensions[name] = extent
    constants = _constants(signature, named, bound)
    _bind_equations(signature, bound, constants)
    for constant in signature.constants:
        bound.constants[constant.name] = _constant(signature, constant, named, bound)
    for parameter in signature.arguments:
        if isinstance(parameter, ScalarParameter):
            bound.scalars[parameter.name] = _scalar(signature, parameter, values[parameter.name], bound)
    return bound


def _constants(signature: Signature, named: Mapping[str, Any], bound: Bound) -> dict[str, int]:
    """The whole numbers among the constants that are no dimension: expressions such as `"V/BV"` use them."""
    constants = {}
    for constant in signature.constants:
        if constant.name not in signature.static:
            value = _constant(signature, constant, named, bound)
            if isinstance(value, int) and not isinstance(value, bool):
                constants[constant.name] = value
    return constants


def _bind_equations(signature: Signature, bound: Bound, constants: Mapping[str, int]) -> None:
    """Gives every computed dimension its extent, and every dimension an axis decides through one."""
    bound.dimensions = resolve(signature.equations, bound.dimensions, constants)
    for equation in signature.equations:
        known = {**constants, **bound.dimensions}
        missing = [name for name in (equation.dimension, *equation.names) if name not in known]
        have = None if missing else equation.value(known)
        if have is not None and have == known[equation.dimension]:
            continue
        tensor = next((t for t in signature.tensors if Named(equation.dimension) in t.dimensions), None)
        parts = ", ".join(f"{name} = {known[name]}" for name in equation.names if name in known)
        if tensor is None:
            where = ""
        else:
            axis = tensor.dimensions.index(Named(equation.dimension))
            where = f", and axis {axis} of `{tensor.name}` has {known[equation.dimension]}"
        if have is None:
            message = f"the extent of {equation.text} does not follow from the arguments: {', '.join(missing)} is open"
        else:
            message = f"{equation.text} is {have}{where}"
        cure = "pass arrays whose shapes satisfy the equation"
        if have is None:
            cure = f"give some tensor the axis {missing[0]}, or the axis {equation.text} a name of its own"
        fail(signature, Code.DIMENSION_DIFFERS, message, tensor, notes=(f"with {parts}",) if parts else (), help=cure)


def _by_name(signature: Signature, args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    names = [parameter.name for parameter in signature.arguments]
    listed = ", ".join(names) or "none"
    if len(args) > len(names):
        constants = ", ".join(constant.name for constant in signature.constants)
        fail(
            signature,
            Code.ARGUMENT_COUNT,
            f"`{signature.name}` takes {len(names)} arguments ({listed}), and {len(args)} are given",
            help=f"constants are given by name: {constants}" if constants else "",
        )
    values = dict(zip(names, args, strict=False))
    known = {constant.name for constant in signature.constants}
    for name, value in named.items():
        if name in values:
            fail(signature, Code.ARGUMENT_COUNT, f"`{name}` is given twice", help="give it once, by position or name")
        if name in names:
            values[name] = value
        elif name not in known:
            choices = ", ".join([*names, *(constant.name for constant in signature.constants)])
            fail(
                signature,
                Code.ARGUMENT_COUNT,
                f"`{signature.name}` has no parameter `{name}`",
                help=f"it has {choices}",
            )
    missing = [parameter for parameter in signature.arguments if parameter.name not in values]
    if missing:
        what = ", ".join(f"`{parameter.name}`" for parameter in missing)
        fail(
            signature,
            Code.ARGUMENT_COUNT,
            f"`{signature.name}` is missing {what}",
            missing[0],
            help=f"it takes {listed}; a kernel returns nothing, and writes into arrays that are passed to it",
        )
    return values


def _array(signature: Signature, tensor: TensorParameter, values: Mapping[str, Any]) -> Array | Described:
    value = values[tensor.name]
    array = _memory_of(signature, tensor, value)
    if array is None:
        message = f"`{tensor.name}` is a tensor, and the argument is of type {type(value).__name__}"
        fail(signature, Code.ARGUMENT_KIND, message, tensor, help=_cure_of_kind(tensor.name, value))
    if array.ndim != len(tensor.dimensions):
        wrong_rank(signature, tensor, array.shape)
    if tensor.access is not Access.IN and isinstance(array, np.ndarray) and not array.flags.writeable:
        fail(
            signature,
            Code.READ_ONLY,
            f"`{tensor.name}` is written, and the array is read-only",
            tensor,
            label=f"declared as {tensor.access}",
            help="pass a writable array, for instance a copy",
        )
    return array


def wrong_rank(signature: Signature, tensor: TensorParameter, shape: tuple[int, ...]) -> NoReturn:
    """Rejects an array with too few or too many axes."""
    declared = " ".join(map(str, tensor.dimensions)) or "()"
    message = f"`{tensor.name}` has the dimensions {declared}, and the array has the shape {shape}"
    cure = "pass an array with one axis for each dimension: `.reshape(...)` or `[None]` make one"
    fail(signature, Code.ARGUMENT_RANK, message, tensor, help=cure)


def _memory_of(signature: Signature, tensor: TensorParameter, value: Any) -> Array | Described | None:
    """What an array of any library is to a launch: on a GPU as it is described, on the CPU as a numpy array."""
    is_written = tensor.access is not Access.IN
    if type(value) is Tensor:
        return value.seen_by_launch()
    try:
        on_gpu = described(value, tensor.name)
        if on_gpu is None:
            return on_host(value, tensor.name, is_written=is_written)
        if is_written:
            check_writeable(on_gpu, tensor.name)
    except Unusable as why:
        label = f"declared as {tensor.access}" if is_written else ""
        message = f"`{tensor.name}` {why.message}"
        fail(signature, why.code, message, tensor, label=label, notes=why.notes, help=why.help)
    return on_gpu


def _bind_device(signature: Signature, tensor: TensorParameter, array: Array | Described, bound: Bound) -> None:
    """A kernel runs where its arguments are, so they are all there."""
    device = array.device if isinstance(array, Described) else None
    if not bound.tensors:
        bound.device = device
    elif device != bound.device:
        _devices_differ(signature, signature.tensors[0], bound.device, tensor, device)


def _devices_differ(
    signature: Signature, first: TensorParameter, there: int | None, tensor: TensorParameter, here: int | None
) -> NoReturn:
    where, other = ("the CPU" if device is None else f"GPU {device}" for device in (here, there))
    if here is None or there is None:
        on_cpu, gpu = (tensor.name, there) if here is None else (first.name, here)
        cure = f"copy `{on_cpu}` to GPU {gpu}, as torch and cupy do: `torch.as_tensor({on_cpu}, device={gpu})`"
    else:
        cure = f"copy one to the other's GPU: `{tensor.name}.to({there})`"
    fail(
        signature,
        Code.DEVICES_DIFFER,
        f"`{tensor.name}` is on {where}, and `{first.name}` on {other}",
        tensor,
        label=f"on {where}",
        labels=(Label(first.span, f"on {other}"),),
        notes=("a kernel runs where its arguments are, and copies none of them",),
        help=cure,
    )


def _cure_of_kind(name: str, value: Any) -> str:
    """How to make an array of what was given for a tensor."""
    if isinstance(value, np.ma.MaskedArray):
        return f"a kernel sees no mask: pass `{name}.data`, or `{name}.filled(...)`"
    if isinstance(value, (int, float)) and not isinstance(value, np.generic):
        return f"pass an array, or declare `{name}` as a scalar: `{name}: f32`"
    if hasattr(value, "__array__"):
        return f"pass a numpy array: `np.asarray({name})`"
    if isinstance(value, (list, tuple)):
        return f"pass an array of it: `np.asarray({name}, np.float32)`, or `tp.asarray({name})`"
    return "pass a numpy array, or one of torch, cupy or JAX, or with `__array_interface__` or DLPack"


def _check_alignment(signature: Signature, tensor: TensorParameter, array: Array | Described) -> None:
    """Positions count whole elements, so each lies at a multiple of its size."""
    size = array.itemsize
    steps = [stride for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1]
    address = address_of(array)
    if not array.size or not any(number % size for number in (address, *steps)):
        return
    if address % size:
        note = f"the address of the first element is {address % size} more than a multiple of {size}"
    else:
        note = f"the strides are {array.strides} (in bytes), and an element has {size}"
    fail(
        signature,
        Code.MISALIGNED,
        f"`{tensor.name}` is given an array whose elements do not lie at multiples of their size",
        tensor,
        notes=(note, "a field of a packed record and a view of bytes at an odd place are such arrays"),
        help="pass a copy, and copy back what the kernel writes; or align the record: `np.dtype(..., align=True)`",
    )


def _bind_dtype(signature: Signature, tensor: TensorParameter, array: Array | Described, bound: Bound) -> None:
    dtype = by_storage().get(array.dtype) if array.dtype.isnative else None
    if dtype is None and by_storage().get(array.dtype.newbyteorder("=")) is not None:
        fail(
            signature,
            Code.ARGUMENT_DTYPE,
            f"`{tensor.name}` is given an array of {array.dtype.str}, whose bytes are in the other order",
            tensor,
            help='convert it: `x.astype(x.dtype.newbyteorder("="))`',
        )
    if dtype is None:
        fail(
            signature,
            Code.ARGUMENT_DTYPE,
            f"`{tensor.name}` is given an array of {array.dtype}, which is not an element type",
            tensor,
            help="convert it: `x.astype(np.float32)`; bf16 and 8-bit floats come from `ml_dtypes`",
        )
    match tensor.element:
        case DType() as wanted:
            if dtype is not wanted:
                _wrong_dtype(signature, tensor, str(wanted), dtype)
        case ContentOf() as content:
            if dtype not in (I32, I64):
                _wrong_dtype(signature, tensor, f"{content}, stored as i32 or i64", dtype)
            bound.dtypes[tensor.name] = dtype
        case Anything():
            bound.dtypes[tensor.name] = dtype
        case DTypeVar(name=name):
            if bound.dtypes.setdefault(name, dtype) is not dtype:
                first = next(other for other in signature.tensors if other.element == tensor.element)
                _wrong_dtype(signature, tensor, f"{name}, which is {bound.dtypes[name]}", dtype, first)


_OF_NUMPY = {
    "bool": "np.bool_", "f16": "np.float16", "f32": "np.float32", "f64": "np.float64",
    **{f"{kind}{bits}": f"np.{name}{bits}" for kind, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Element types by the names that numpy has for them."""


def _cure_of_dtype(tensor: TensorParameter, numpy_type: str) -> str:
    """How an array gets the element type of its parameter. A converted copy is no place for a result."""
    name = tensor.name
    if tensor.access.writes:
        return f"allocate `{name}` with this type, dtype={numpy_type}: a converted copy would get the result"
    return f"convert the array before the launch: `{name}.astype({numpy_type})`"


def _wrong_dtype(
    signature: Signature, tensor: TensorParameter, wanted: str, have: DType, first: TensorParameter | None = None
) -> NoReturn:
    is_index = isinstance(tensor.element, ContentOf)
    numpy_type = "np.int32" if is_index else _OF_NUMPY.get(wanted.rpartition(" ")[2], "...")
    fail(
        signature,
        Code.ARGUMENT_DTYPE,
        f"`{tensor.name}` holds {wanted}, and the array holds {have}",
        tensor,
        labels=(Label(first.span, "the element type was bound here"),) if first else (),
        help=_cure_of_dtype(tensor, numpy_type),
    )


def _bind_dimensions(
    signature: Signature, tensor: TensorParameter, array: Array | Described, bound: Bound,
    seen: dict[str, TensorParameter],
) -> None:  # fmt: skip
    for axis, (dimension, extent) in enumerate(zip(tensor.dimensions, array.shape, strict=True)):
        match dimension:
            case Fixed(extent=wanted) if wanted != extent:
                fail(
                    signature,
                    Code.DIMENSION_DIFFERS,
                    f"axis {axis} of `{tensor.name}` is {wanted}, and the array has {extent} there",
                    tensor,
                    notes=(f"the array has the shape {array.shape}",),
                    help=f"pass an array with {wanted} there, or give the axis a name in the signature",
                )
            case Named(name=name) if bound.dimensions.setdefault(name, extent) != extent:
                first = seen[name]
                shape = bound.tensors[first.name].shape
                shapes = f"`{first.name}` has the shape {shape}, `{tensor.name}` {array.shape}"
                fail(
                    signature,
                    Code.DIMENSION_DIFFERS,
                    f"{name} is {bound.dimensions[name]} in `{first.name}` and {extent} in `{tensor.name}`",
                    tensor,
                    labels=(Label(first.span, f"{name} = {bound.dimensions[name]}"),) if first is not tensor else (),
                    label=f"{name} = {extent}",
                    notes=(shapes, "one name is one extent, across all arguments"),
                    help="pass arrays whose shapes agree, or give the axes different names in the signature",
                )
            case Named(name=name):
                seen.setdefault(name, tensor)
            case _:
                pass


def _scalar(signature: Signature, scalar: ScalarParameter, value: Any, bound: Bound) -> bool | int | float:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | float):
        kind = type(value).__name__
        fail(
            signature,
            Code.ARGUMENT_KIND,
            f"`{scalar.name}` is a scalar, and the argument is of type {kind}",
            scalar,
            help="pass a number",
        )
    dtype = scalar.element
    if isinstance(dtype, DTypeVar):
        dtype = bound.dtypes.setdefault(dtype.name, F32 if isinstance(value, float) else I32)
    if dtype is BOOL or isinstance(value, bool):
        if not (dtype is BOOL and isinstance(value, bool)):
            cure = "pass True or False" if dtype is BOOL else "pass a number: `int(...)`"
            message = f"`{scalar.name}` is {dtype}, and {formatted(value)} is given"
            fail(signature, Code.ARGUMENT_DTYPE, message, scalar, help=cure)
        return bool(value)
    if dtype.is_integer:
        least, most = limits(dtype)
        if isinstance(value, float) or not least <= value <= most:
            why = "is a float" if isinstance(value, float) else "does not fit"
            cure = f"pass a whole number from {least} to {most}"
            message = f"`{scalar.name}` is {dtype}, and {formatted(value)} {why}"
            fail(signature, Code.ARGUMENT_DTYPE, message, scalar, help=cure)
    if dtype.is_float and isinstance(value, int | float):
        greatest = limits(dtype)[1]
        if abs(value) > greatest and value not in (math.inf, -math.inf):
            message = f"`{scalar.name}` is {dtype}, and {formatted(value)} does not fit"
            fail(signature, Code.ARGUMENT_DTYPE, message, scalar, help=f"pass a number up to {greatest:g}, or infinity")
        return float(value)
    number: int = value
    return number


def _constant(
    signature: Signature, constant: ConstantParameter, named: Mapping[str, Any], bound: Bound
) -> ConstantValue:
    if constant.name in signature.static:
        extent = bound.dimensions[constant.name]
        if constant.name in named and _constant_value(signature, constant, named) != extent:
            text = formatted(named[constant.name])
            fail(
                signature,
                Code.CONSTANT_VALUE,
                f"`{constant.name}` is a dimension of the arguments, {extent}, and {text} is given",
                constant,
                help="leave it out: it is bound from the arguments",
            )
        return extent
    return _constant_value(signature, constant, named)


def _constant_value(signature: Signature, constant: ConstantParameter, named: Mapping[str, Any]) -> ConstantValue:
    """The value a launch gives a constant, or its default."""
    value = named.get(constant.name, constant.default)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        cure = f"give it by name: `{constant.name}=...`"
        fail(signature, Code.CONSTANT_VALUE, f"the constant `{constant.name}` has no value", constant, help=cure)
    if not takes(constant.type, value):
        message = f"the constant `{constant.name}` is of type {constant.type.__name__}, and {formatted(value)} is given"
        fail(signature, Code.CONSTANT_VALUE, message, constant, help=cure_for(constant.type, value))
    number: ConstantValue = float(value) if constant.type is float else value
    return number
