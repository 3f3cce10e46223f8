"""Step 3: a kernel's parameters: tensors with their dimensions, scalars, and constants.

Read from the syntax tree. Dimensions are names (one extent wherever they stand), numbers or `_`. A keyword-only
parameter is a constant; named like a dimension, it is bound from the arguments and makes that dimension static.
"""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, TypeAlias

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Edit, KernelError, Label
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.diagnostics.spans import Span
from tileproof.diagnostics.values import formatted
from tileproof.ir.ops import KernelIR
from tileproof.ir.types import Access, Dimension, Fixed, Length, Named
from tileproof.language import annotations as spelled
from tileproof.language.dtypes import ALL, TF32, DType, DTypeVar
from tileproof.language.kernel import Kernel, Memo
from tileproof.language.spaces import parallel, tiles

from .captures import MISSING, Capture, as_dtype, find_expression
from .dimensions import Equation, read_dimension, read_dimensions, resolve
from .source import FunctionSource, Rejected, RuledOut, check_syntax, read_function, reject

MOST_BITS: Final = 8192
"""How long a whole number may be that is known while compiling: only to print a longer one would be work."""
_CONTENTS: dict[Any, str] = {spelled.Index: "Index", spelled.Unique: "Unique", spelled.Offsets: "Offsets"}
_ACCESS: dict[Any, Access] = {getattr(spelled, access.value): access for access in Access}
MOST_OPTIONAL: Final = 5
"""How many parameters of a kernel may be optional: each combination of them is a form, and is checked."""
_RESERVED = ("kernel", "order", "sanitize")
_CONSTANT_TYPES: dict[Any, type[int] | type[float] | type[bool]] = {int: int, float: float, bool: bool}
_DTYPE_NAMES = frozenset(dtype.name for dtype in ALL) | {"T", "U"}


@dataclass(frozen=True, slots=True)
class ContentOf:
    """`Index["V"]` as written: the storage type is known when the argument is."""

    kind: str
    dimension: str
    ends_early: bool = False
    """`Offsets["<=N"]`: borders that may end before the extent."""
    per: tuple[str, ...] = ()
    """The first axes, within each position of which the entries of a `Unique` differ."""

    def __str__(self) -> str:
        words = ["<=" * self.ends_early + self.dimension, *(("per", *self.per) if self.per else ())]
        return f'{self.kind}["{" ".join(words)}"]'


@dataclass(frozen=True, slots=True)
class Anything:
    """`Any` as an element type: whatever the argument has."""


Element: TypeAlias = DType | DTypeVar | ContentOf | Anything


@dataclass(frozen=True, slots=True)
class TensorParameter:
    """A tensor that a kernel takes."""

    name: str
    access: Access
    element: Element
    dimensions: tuple[Dimension, ...]
    span: Span
    keeps: bool = False
    """Whether a Sum, Max or Min starts from what it holds."""
    is_optional: bool = False

    @property
    def is_read(self) -> bool:
        """Whether what a launch does depends on what the tensor holds before."""
        return self.access.reads or self.keeps

    def shape(self, extents: Mapping[str, Any]) -> tuple[Any, ...]:
        """Its shape where dimensions have these extents; `OpenDimension` if one has none."""

        def extent_of(dimension: Dimension) -> Any:
            if isinstance(dimension, Fixed):
                return dimension.extent
            if isinstance(dimension, Named) and dimension.name in extents:
                return extents[dimension.name]
            raise OpenDimension(str(dimension))

        return tuple(map(extent_of, self.dimensions))


class OpenDimension(Exception):
    """A dimension whose extent does not follow from what is known."""


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    """A number that a launch passes."""

    name: str
    element: DType | DTypeVar
    span: Span
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class ConstantParameter:
    """A number, or a truth, that a kernel is compiled for."""

    name: str
    type: type[int] | type[float] | type[bool]
    default: int | float | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Signature:
    """All parameters of a kernel in order."""

    name: str
    arguments: tuple[TensorParameter | ScalarParameter, ...]
    constants: tuple[ConstantParameter, ...]
    equations: tuple[Equation, ...]
    """The dimensions that are computed from others."""
    span: Span
    absent: tuple[TensorParameter | ScalarParameter, ...] = ()
    """The optional parameters that this form of the kernel does without."""
    unknown: tuple[str, ...] = ()
    """The dimensions that only these name."""
    leading: str | None = None
    """The name of the last of the leading axes, of `"M... N"`."""
    leading_of: str = ""
    """The tensor whose rank says how many there are."""
    leading_axes: tuple[str, ...] = ()
    """All of them in this form, in order."""
    axes: tuple[str, ...] = ()
    """The constants that the kernel walks though no tensor has them: dimensions that a launch decides."""
    tensors: tuple[TensorParameter, ...] = field(init=False, repr=False)
    dimensions: tuple[str, ...] = field(init=False, repr=False)
    """Every named dimension: those of tensors in order of appearance, then those only equations name."""
    static: tuple[str, ...] = field(init=False, repr=False)
    """The dimensions bound as constants."""

    def __post_init__(self) -> None:
        tensors = tuple(parameter for parameter in self.arguments if isinstance(parameter, TensorParameter))
        names = [d.name for tensor in tensors for d in tensor.dimensions if isinstance(d, Named)]
        fixed = {constant.name for constant in self.constants if constant.default is not None}
        parts = [name for equation in self.equations for name in equation.names if name not in fixed]
        computed = (equation.dimension for equation in self.equations)
        dimensions = tuple(dict.fromkeys([*names, *parts, *computed, *self.axes]))
        object.__setattr__(self, "tensors", tensors)
        object.__setattr__(self, "dimensions", dimensions)
        static = tuple(constant.name for constant in self.constants if constant.name in dimensions)
        object.__setattr__(self, "static", static)

    @property
    def has_forms(self) -> bool:
        """Whether some parameters are optional."""
        return bool(self.absent) or any(each.is_optional for each in self.arguments)

    def extents(
        self, shapes: Mapping[str, Sequence[Any]], constants: Mapping[str, Any], sizes: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The extents that follow from shapes of tensors, from constants or their defaults, and from sizes by name."""
        extents = dict(sizes or {})
        for tensor in self.tensors:
            for dimension, extent in zip(tensor.dimensions, shapes.get(tensor.name, ()), strict=False):
                if isinstance(dimension, Named):
                    extents.setdefault(dimension.name, extent)
        extents = {name: constants[name] for name in self.static if name in constants} | extents
        defaults = {constant.name: constant.default for constant in self.constants if type(constant.default) is int}
        return resolve(self.equations, extents, defaults | dict(constants))

    def static_lengths(self, constants: Mapping[str, Any]) -> dict[str, Length]:
        """The extents of all dimensions that constants decide."""
        known: dict[str, Length] = {name: value for name, value in constants.items() if not isinstance(value, float)}
        static = {name: known[name] for name in self.static}
        for _ in self.equations:
            for equation in self.equations:
                if all(name in known for name in equation.names):
                    static[equation.dimension] = known[equation.dimension] = equation.value(known)
        return static

    def nearest_dimension(self, name: str) -> str | None:
        """A dimension one slip of the finger away from `name`."""
        return next(iter(difflib.get_close_matches(name, self.dimensions, 1, 0.6)), None)


def read_signature(function: FunctionSource, absent: frozenset[str] = frozenset(), leading: int = 1) -> Signature:
    """The signature of a form of a kernel, or the first mistake in it."""
    arguments = function.tree.args
    for parameter in (arguments.vararg, arguments.kwarg):
        if parameter is not None:
            message = f"a kernel cannot take `*{parameter.arg}`: its parameters are fixed"
            raise reject(Code.BAD_PARAMETER, message, function.span(parameter), help="name each tensor and scalar")
    positional = [*arguments.posonlyargs, *arguments.args]
    for parameter in arguments.kwonlyargs:
        if parameter.arg in _RESERVED:
            message = f"a constant cannot be called `{parameter.arg}`: tp.interpret has a parameter of that name"
            cure = "choose another name; constants are usually written in capitals"
            raise reject(Code.BAD_CONSTANT, message, function.span(parameter), help=cure)
    if arguments.defaults:
        first = positional[-len(arguments.defaults)]
        message = f"`{first.arg}` has a default, but tensors and scalars are always given"
        cure, edit = f"remove the default, or put `{first.arg}` after `*` to make it a constant", None
        if not arguments.kwonlyargs and not arguments.vararg:
            span = function.span(first)
            edit = Edit(span, f"*, {span.text}")
        raise reject(Code.BAD_PARAMETER, message, function.span(arguments.defaults[0]), help=cure, edit=edit)
    lead = _leading(function, positional)
    equations: list[Equation] = []
    read = tuple(_argument(function, parameter, equations, leading) for parameter in positional)
    constants = tuple(_constant(function, parameter) for parameter in arguments.kwonlyargs)
    signature = Signature(function.name, read, constants, tuple(equations), function.header)
    walked = _walked(function)
    axes = (each.name for each in constants if each.type is int and each.name in walked)
    signature = replace(signature, axes=tuple(name for name in axes if name not in signature.dimensions))
    if lead is not None:
        name, tensor = lead
        signature = replace(signature, leading=name, leading_of=tensor, leading_axes=leading_axes(name, leading))
        signature = replace(signature, axes=tuple(each for each in signature.axes if each != name))
    elif leading != 1:
        message = f"`{signature.name}` has no leading axes, as in `\"M... N\"`"
        raise reject(Code.BAD_DIMENSIONS, message, function.header, help="leave out `with_leading`")
    if absent:
        signature = _without(function, signature, absent, leading)
    _check_optional(signature)
    _check_constants(signature)
    _check_contents(signature)
    return signature


def leading_axes(name: str, count: int) -> tuple[str, ...]:
    """The names of leading axes: the last is called as it is written."""
    return (*(f"{name}...{number}" for number in range(count - 1, 0, -1)), name) if count else ()


def _leading(function: FunctionSource, parameters: Sequence[ast.arg]) -> tuple[str, str] | None:
    """The name before `...` in the dimensions of tensors, and the first tensor with it that is always there."""
    names: dict[str, ast.arg] = {}
    tensor = ""
    for parameter in parameters:
        node, is_optional = _optional(parameter.annotation)
        for each in ast.walk(node) if isinstance(node, ast.Subscript) else ():
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and "..." in each.value.split(" ")[0]:
                names.setdefault(each.value.split(" ")[0].removesuffix("..."), parameter)
                tensor = tensor or ("" if is_optional else parameter.arg)
    if not names:
        return None
    (name, parameter), *others = names.items()
    if others or not tensor or not name.isidentifier():
        wrong = others[0][1] if others else parameter
        message = "leading axes have one name, `M...`, and a tensor that is always there has them"
        cure = 'write `"M... N"` in each, and declare one of them without `| None`'
        raise reject(Code.BAD_DIMENSIONS, message, function.span(wrong), help=cure)
    return name, tensor


def _without(function: FunctionSource, whole: Signature, absent: frozenset[str], leading: int) -> Signature:
    """A signature without some optional parameters, and without the dimensions that only these name."""
    for name in sorted(absent - {each.name for each in whole.arguments if each.is_optional}):
        message = f"`{whole.name}` has no optional parameter `{name}`"
        cure = "only what is declared `| None` can be left out"
        raise reject(Code.BAD_PARAMETER, message, whole.span, help=cure)
    equations: list[Equation] = []
    tree = function.tree.args
    nodes = {parameter.arg: parameter for parameter in (*tree.posonlyargs, *tree.args)}
    gone = tuple(each for each in whole.arguments if each.name in absent)
    kept = tuple(
        _argument(function, nodes[each.name], equations, leading)
        for each in whole.arguments if each.name not in absent
    )  # fmt: skip
    form = replace(whole, arguments=kept, equations=tuple(equations), absent=gone)
    unknown = tuple(name for name in whole.dimensions if name not in form.dimensions)
    constants = tuple(each for each in whole.constants if each.name not in unknown)
    return replace(form, constants=constants, unknown=unknown)


def _argument(
    function: FunctionSource, parameter: ast.arg, equations: list[Equation], leading: int
) -> TensorParameter | ScalarParameter:
    name, (node, is_optional) = parameter.arg, _optional(parameter.annotation)
    if node is None:
        raise reject(
            Code.BAD_ANNOTATION,
            f"the parameter `{name}` has no annotation",
            function.span(parameter),
            help="a kernel is a function, not a method: move it out of its class"
            if name == "self"
            else f'write `{name}: In[T, "M N"]`, or `Out`, for a tensor, or `{name}: f32` for a scalar',
        )
    span = function.span(node)
    if isinstance(node, ast.Subscript):
        return replace(_tensor(function, parameter, node, equations, leading), is_optional=is_optional)
    value = find_expression(function.function, node)
    if any(value is key for key in _ACCESS):
        message = f"`{name}: {ast.unparse(node)}` does not say what it holds"
        cure = f'write the element type and the dimensions: `{ast.unparse(node)}[T, "M N"]`'
        raise reject(Code.BAD_ANNOTATION, message, span, help=cure)
    dtype = as_dtype(value)
    if value is int or value is float:
        message = f"`{name}: {ast.unparse(node)}` is a Python number; a scalar has an element type"
        cure = f"write `{name}: i32` or `{name}: f32` for a scalar, or put it after `*` for a constant"
        raise reject(Code.BAD_ANNOTATION, message, span, help=cure)
    if dtype is None:
        message = f"`{ast.unparse(node)}` is not an annotation of the language"
        cure = f'write `{name}: In[T, "M N"]` for a tensor or `{name}: f32` for a scalar'
        raise reject(Code.BAD_ANNOTATION, message, span, help=cure)
    if dtype is TF32:
        raise reject(
            Code.BAD_ANNOTATION, "tf32 exists in tiles only", span, help="take f32 and cast with `.to(tf32)`"
        )
    return ScalarParameter(name, dtype, function.span(parameter), is_optional)


def _optional(node: ast.expr | None) -> tuple[ast.expr | None, bool]:
    """An annotation without `| None`, and whether it has that."""
    match node:
        case ast.BinOp(left=inner, op=ast.BitOr(), right=ast.Constant(value=None)):
            return inner, True
        case ast.BinOp(left=ast.Constant(value=None), op=ast.BitOr(), right=inner):
            return inner, True
        case _:
            return node, False


def _tensor(
    function: FunctionSource, parameter: ast.arg, node: ast.Subscript, equations: list[Equation], leading: int
) -> TensorParameter:
    span = function.span(node)
    outer = find_expression(function.function, node.value)
    access = next((access for key, access in _ACCESS.items() if key is outer), None)
    if access is None:
        message = f"`{ast.unparse(node.value)}` is not one of In, Out, InOut, Sum, Max, Min"
        cure = 'write `In[T, "M N"]`; `Index["V"]` is an element type: `In[Index["V"], "N"]`'
        raise reject(Code.BAD_ANNOTATION, message, function.span(node.value), help=cure)
    keeps = False
    match node.slice:
        case ast.Tuple(elts=[element_node, ast.Constant(value=str(text)) as words]) if _words(element_node) is None:
            pass
        case ast.Tuple(elts=[element_node, ast.Constant(value=str(text)) as words, ast.Constant(value="keep")]) if (
            access.combines and _words(element_node) is None
        ):
            keeps = True
        case _:
            raise reject(
                Code.BAD_ANNOTATION,
                f"`{access}[...]` takes an element type and a dimension string",
                function.span(node.slice),
                help=f'write `{access}[T, "M N"]`' + (
                    f', or `{access}[T, "M N", "keep"]` to start from what the tensor holds' if access.combines else ""
                ),
                edit=_in_order(function, node.slice),
            )
    element = _element(function, element_node, equations)
    if element is TF32:
        message = "tf32 exists in tiles only, not in memory"
        cure = "take f32 and cast tiles with `.to(tf32)`"
        raise reject(Code.BAD_ANNOTATION, message, function.span(element_node), help=cure)
    if isinstance(element, ContentOf) and access is not Access.IN:
        if access.combines:
            message = f"an index tensor can be `In`, `Out` or `InOut`, not `{access}`"
            cure = "combine integers, i32 or i64, and let the consumer take them as `Index`"
            raise reject(Code.BAD_ANNOTATION, message, span, help=cure)
        if element.kind != "Index":
            raise reject(
                Code.BAD_ANNOTATION,
                f"a kernel cannot write `{element.kind}`: what it promises is about all entries at once",
                span,
                help=f'write `{access}[Index["{element.dimension}"], ...]`, and let the consumer take it as '
                f"`{element.kind}`",
            )
    first, _, rest = text.partition(" ")
    lead = leading_axes(first.removesuffix("..."), leading) if first.endswith("...") else ()
    dimensions = read_dimensions(rest if first.endswith("...") else text, function.span(words), equations)
    dimensions = (*map(Named, lead), *dimensions)
    if isinstance(element, ContentOf) and element.kind == "Offsets" and len(dimensions) != 1:
        message = "an `Offsets` tensor has one axis: the borders of the segments"
        raise reject(Code.BAD_ANNOTATION, message, span, help='write `In[Offsets["N"], "E+1"]`')
    if isinstance(element, ContentOf) and tuple(map(str, dimensions[: len(element.per)])) != element.per:
        message = f"`per {' '.join(element.per)}` names the first axes of the tensor, which are `{text}`"
        cure = "put the axes first within which entries differ"
        raise reject(Code.BAD_ANNOTATION, message, function.span(element_node), help=cure)
    return TensorParameter(parameter.arg, access, element, dimensions, function.span(parameter), keeps)


def _content(function: FunctionSource, node: ast.Subscript, kind: str, equations: list[Equation]) -> ContentOf:
    span = function.span(node)
    text = node.slice.value if isinstance(node.slice, ast.Constant) else None
    ends_early = kind == "Offsets" and isinstance(text, str) and text.startswith("<=")
    text = text[2:] if ends_early and isinstance(text, str) else text
    word, *rest = (text.split() if isinstance(text, str) else []) or [""]
    per = tuple(rest[1:])
    dimension = read_dimension(word, span, equations) if word else None
    if not isinstance(dimension, Named) or (rest and (kind != "Unique" or rest[0] != "per" or not per)):
        message, cure = f"`{kind}[...]` takes the dimension its entries point into", f'write `{kind}["V"]`'
        if isinstance(dimension, Fixed):
            message = f"`{kind}[...]` takes a dimension by name, and `{word}` is a number"
            cure = f'call the axis V, write `{kind}["V"]`, and demand `tp.require(tp.dim("V") == {word})`'
        elif kind == "Offsets":
            cure += ', or `Offsets["<=V"]` for borders that may end before the extent'
        elif kind == "Unique" and rest:
            cure += ', or `Unique["V per N"]` if entries differ within each row of N'
        raise reject(Code.BAD_ANNOTATION, message, span, help=cure)
    return ContentOf(kind, dimension.name, ends_early, per)


def _words(node: ast.expr) -> str | None:
    """Text that names dimensions; None for anything else, also for an element type in quotes."""
    text = node.value if isinstance(node, ast.Constant) else None
    return text if isinstance(text, str) and text not in _DTYPE_NAMES else None


def _in_order(function: FunctionSource, node: ast.expr) -> Edit | None:
    """The element type first, `T` where there is none, then all dimensions in one string."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    words = [text for text in map(_words, parts) if text is not None]
    types = [ast.unparse(part) for part in parts if _words(part) is None] or ["T"]
    return Edit(function.span(node), f'{types[0]}, "{" ".join(words)}"') if words and len(types) == 1 else None


def _element(function: FunctionSource, node: ast.expr, equations: list[Equation]) -> Element:
    if isinstance(node, ast.Subscript):
        outer = find_expression(function.function, node.value)
        kind = next((kind for key, kind in _CONTENTS.items() if key is outer), None)
        if kind is not None:
            return _content(function, node, kind, equations)
    value = find_expression(function.function, node)
    if value is Any:
        return Anything()
    dtype = as_dtype(value) if value is not MISSING else None
    if dtype is None:
        from .hints import dtype_hint  # a launch whose code is on disk reads signatures, and rejects none

        edit = None
        if isinstance(node, ast.Constant) and node.value in _DTYPE_NAMES:
            edit = Edit(function.span(node), node.value)
        raise reject(
            Code.NOT_A_DTYPE,
            f"`{ast.unparse(node)}` is not an element type",
            function.span(node),
            notes=("the element type comes first, then the dimensions",),
            help=dtype_hint(value) or "write f32, bf16, i32, ..., or `T` for the type of the arguments",
            edit=edit,
        )
    return dtype


def takes(kind: type, value: object) -> bool:
    """Whether a constant of this type may have a value: a float may have an int too, if a float is as large, and an int
    is not so large that only to print it would be work."""
    if kind is float and isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= sys.float_info.max
    is_large = isinstance(value, int) and value.bit_length() > MOST_BITS
    return isinstance(value, kind) and isinstance(value, bool) is (kind is bool) and not is_large


def cure_for(kind: type, value: object) -> str:
    """What to do about a value that a constant of this type does not take."""
    if type(value) is int and kind is not bool:
        return f"it is too large: give it a smaller {kind.__name__}"
    return f"give it a value of type {kind.__name__}"


def _constant(function: FunctionSource, parameter: ast.arg) -> ConstantParameter:
    name, span = parameter.arg, function.span(parameter)
    annotated = None if parameter.annotation is None else find_expression(function.function, parameter.annotation)
    kind = next((kind for key, kind in _CONSTANT_TYPES.items() if key is annotated), None)
    if kind is None:
        raise reject(
            Code.BAD_CONSTANT,
            f"the constant `{name}` must be an int, a float or a bool",
            span,
            notes=("parameters after `*` are compile-time constants",),
            help=f"write `{name}: int`, or put it before the `*`, where tensors and scalars stand",
        )
    default = (function.function.__kwdefaults__ or {}).get(name)
    if default is not None and not takes(kind, default):
        raise reject(
            Code.BAD_CONSTANT,
            f"the default of `{name}` is {formatted(default)}, which a constant of type {kind.__name__} does not take",
            span,
            help=cure_for(kind, default),
        )
    return ConstantParameter(name, kind, default, span)


def _check_optional(signature: Signature) -> None:
    optional = [each for each in (*signature.arguments, *signature.absent) if each.is_optional]
    if len(optional) > MOST_OPTIONAL:
        message = f"`{signature.name}` has {len(optional)} optional parameters, and {MOST_OPTIONAL} are the most"
        cure = "every combination of them is checked: write two kernels with a helper function that both call"
        raise reject(Code.BAD_PARAMETER, message, optional[-1].span, help=cure)


def _walked(function: FunctionSource) -> set[str]:
    """The names that stand for dimensions in the spaces of a kernel."""
    names: set[str] = set()
    for node in ast.walk(function.tree):
        if isinstance(node, ast.Call) and find_expression(function.function, node.func) in (parallel, tiles):
            names.update(keyword.arg for keyword in node.keywords if keyword.arg)
            pairs = (each.elts[0] for each in node.args if isinstance(each, ast.Tuple) and each.elts)
            names.update(each.value for each in pairs if isinstance(each, ast.Constant) and isinstance(each.value, str))
    return names


def _check_constants(signature: Signature) -> None:
    for constant in signature.constants:
        if constant.name in signature.axes:
            continue
        if constant.name in signature.dimensions and (constant.default is not None or constant.type is not int):
            name = constant.name
            axes = [tensor for tensor in signature.tensors if Named(name) in tensor.dimensions]
            raise reject(
                Code.BAD_CONSTANT,
                f"`{name}` is a dimension: it is bound from the arguments and takes no default",
                constant.span,
                labels=tuple(Label(tensor.span, f"an axis of `{tensor.name}` is {name}") for tensor in axes[:1]),
                notes=(f'a constant may have a default where it stands in expressions alone, such as "2*{name}"',),
                help=f"write `{name}: int`",
            )


def _demand_there(signature: Signature, dimension: str, what: str, span: Span) -> None:
    """Rules out a form in which something needs a dimension that only parameters which are None name."""
    if dimension in signature.unknown:
        absent = " and ".join(f"`{each.name}`" for each in signature.absent)
        message = f"{what} needs the dimension {dimension}, which is that of {absent} alone, and that is None"
        cure = "pass both or neither"
        labels = tuple(Label(each.span, "declared with `| None`") for each in signature.absent)
        raise RuledOut(reject(Code.CONTRACT, message, span, help=cure, labels=labels).diagnostic)


def _parts(equation: Equation, equations: Sequence[Equation]) -> set[str]:
    """All dimensions and constants that one is computed from, over any number of equations."""
    formulas = {one.dimension: one.names for one in equations}
    names: set[str] = set()
    pending = list(equation.names)
    while pending:
        name = pending.pop()
        if name not in names:
            names.add(name)
            pending += formulas.get(name, ())
    return names


def _check_contents(signature: Signature) -> None:
    axes = {d.name for tensor in signature.tensors for d in tensor.dimensions if isinstance(d, Named)}
    known = axes | {constant.name for constant in signature.constants}
    solvable = {name for one in signature.equations if one.dimension in axes for name in one.names}
    for equation in signature.equations:
        if equation.dimension in _parts(equation, signature.equations):
            message = f"`{equation.dimension}` is `{equation.text}`, which is made of `{equation.dimension}` itself"
            cure = "compute one of the two from the other, and name the other alone"
            raise reject(Code.BAD_DIMENSIONS, message, equation.span, help=cure)
        for name in equation.names:
            if name not in known | solvable:
                _demand_there(signature, name, f"`{equation.text}`", equation.span)
                near = signature.nearest_dimension(name)
                message = f"`{equation.text}` uses `{name}`, which is no dimension of a tensor and no constant"
                cure = f"did you mean `{near}`?" if near and near != name else "name an axis so, or add a constant"
                raise reject(Code.UNKNOWN_DIMENSION, message, equation.span, help=cure)
    for tensor in signature.tensors:
        if isinstance(tensor.element, ContentOf) and tensor.element.dimension not in signature.dimensions:
            name = tensor.element.dimension
            _demand_there(signature, name, f"`{tensor.name}`", tensor.span)
            near = signature.nearest_dimension(name)
            message = f'`{tensor.element.kind}["{name}"]` points into a dimension that no tensor has'
            cure = f"did you mean `{near}`?" if near else "name the dimension of the table it indexes"
            raise reject(Code.UNKNOWN_DIMENSION, message, tensor.span, help=cure)


@dataclass(frozen=True, slots=True)
class Elaborated:
    """Typed IR, and the values from outside it was made with: stale as soon as one of them changes."""

    ir: KernelIR
    captures: tuple[Capture, ...]

    @property
    def is_current(self) -> bool:
        return all(capture.is_current for capture in self.captures)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A kernel's source and signature: what does not depend on element types and constants."""

    source: FunctionSource
    signature: Signature


_parsed: Final = Memo[list[Parsed]](list)


def parse(kernel: Kernel) -> Parsed:
    """Source and signature of a kernel; raises `KernelError` with every mistake of syntax."""
    known = _parsed.of(kernel)
    if known:
        return known[0]
    try:
        source = read_function(kernel.function, kernel.source_lines)
        try:
            mistakes = check_syntax(source, is_kernel=True)
        except RecursionError:
            raise too_deep(source) from None
        if mistakes:
            raise KernelError(*mistakes)
        parsed = Parsed(source, read_signature(source, kernel.absent, kernel.leading))
    except Rejected as rejected:
        raise KernelError(rejected.diagnostic) from None
    known.append(parsed)
    return parsed


def too_deep(source: FunctionSource) -> Rejected:
    """That a kernel is nested deeper than Python can follow."""
    message = f"the expressions or helpers of `{source.name}` are nested too deeply"
    return reject(Code.UNSUPPORTED_EXPRESSION, message, source.header, help="give names to parts of them")
