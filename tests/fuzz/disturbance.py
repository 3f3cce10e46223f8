"""Changes of a kernel's text in a few random places: what a slip of the finger or of the mind would do.

Each change is legal Python, keeps most of the types right, and often makes the kernel wrong: an index that is off by
one, a guard that is gone, another access, a store too many. The random index expressions use what is in scope.
"""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

_ACCESS = {"Out": ["InOut"], "InOut": ["Out", "Out", "In"], "In": ["InOut"], "Sum": ["InOut"]}
_COMPARISONS: list[type[ast.cmpop]] = [ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq]
_OPERATORS: dict[type[ast.operator], list[type[ast.operator]]] = {
    ast.Add: [ast.Sub, ast.Mult],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Add, ast.FloorDiv],
    ast.FloorDiv: [ast.Mod, ast.Mult],
    ast.Mod: [ast.FloorDiv],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
}


def disturb(text: str, rng: random.Random) -> str:
    """The text with one to three changes. Comments and layout are not kept."""
    tree = ast.parse(text)
    for _ in range(rng.choices([1, 2, 3], [5, 3, 2])[0]):
        for _ in range(8):
            if rng.choice(CHANGES)(Places(tree), rng):
                break
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@dataclass
class Scope:
    """The positions that are known at some place."""

    scalars: list[str] = field(default_factory=list)
    tiles: list[str] = field(default_factory=list)
    """Sized walkers."""

    def plus(self, other: Scope) -> Scope:
        return Scope([*self.scalars, *other.scalars], [*self.tiles, *other.tiles])


class Places:
    """Where a kernel can be changed: its statements and expressions, each with what is in scope there."""

    def __init__(self, tree: ast.Module) -> None:
        self.kernel = next(one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "k")
        self.parameters = {one.arg: ast.unparse(one.annotation or ast.Constant(0)) for one in self.kernel.args.args}
        self.dims = sorted({word for one in self.parameters.values() for word in _dims(one) if word.isalpha()})
        self.blocks: list[tuple[list[ast.stmt], Scope]] = []
        self.expressions: list[tuple[ast.expr, Scope]] = []
        integers = [name for name, kind in self.parameters.items() if kind in ("i32", "i64")]
        ends = ("i32, '1']", "i64, '1']")
        positions = [f"{name}[0]" for name, kind in self.parameters.items() if kind.endswith(ends)]
        self.visit(self.kernel.body, Scope([*integers, *positions]))

    def visit(self, block: list[ast.stmt], scope: Scope) -> None:
        self.blocks.append((block, scope))
        for statement in block:
            match statement:
                case ast.For(target=target, iter=walked, body=body):
                    self.note(walked, scope)
                    self.visit(body, scope.plus(_bound(target, walked)))
                case ast.If(test=test, body=body, orelse=orelse):
                    self.note(test, scope)
                    self.visit(body, scope)
                    if orelse:
                        self.visit(orelse, scope)
                case ast.While(test=test, body=body):
                    self.note(test, scope)
                    counters = [node.id for node in ast.walk(test) if isinstance(node, ast.Name) and node.id[0] == "k"]
                    self.visit(body, scope.plus(Scope(counters)))
                case _:
                    self.note(statement, scope)
                    if "tp.join(" in ast.unparse(statement):  # nothing of one piece is used from here on
                        scope = Scope(scope.scalars, [name for name in scope.tiles if name != "z"])
                        self.blocks[-1] = (block, scope)

    def note(self, node: ast.AST, scope: Scope) -> None:
        self.expressions += [(one, scope) for one in ast.walk(node) if isinstance(one, ast.expr)]

    def accesses(self) -> list[tuple[ast.Subscript, Scope]]:
        """Loads and stores of tensors."""
        known = {*(name for name, kind in self.parameters.items() if "[" in kind), "past", "fresh"}
        return [
            (node, scope)
            for node, scope in self.expressions
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in known
        ]


def _dims(annotation: str) -> list[str]:
    return annotation.rpartition(", '")[2].rstrip("']").split() if "[" in annotation else []


def _bound(target: ast.expr, walked: ast.expr) -> Scope:
    """What a loop's names are: sizes say which of them are single positions."""
    names = re.findall(r"\w+", ast.unparse(target))
    if isinstance(walked, ast.Call) and ast.unparse(walked.func) == "tp.parallel":
        sizes = [ast.unparse(one) for one in (*walked.args, *(keyword.value for keyword in walked.keywords))]
        if "tp.segments" in sizes[0]:
            sizes.insert(0, "tp.each")
        pairs = list(zip(names, sizes, strict=False))
        singles = [name for name, size in pairs if "tp.each" in size]
        return Scope(singles, [name for name, _ in pairs if name not in singles])
    return Scope(names) if "range(" in ast.unparse(walked) else Scope([], names)


# Random index expressions.


def scalar(places: Places, scope: Scope, rng: random.Random, depth: int = 0) -> str:
    """One position, or something that hopes to be one."""
    starts = [f"{tile}.{rng.choice(['start', 'start', 'stop', 'number'])}" for tile in scope.tiles]
    atoms = [*scope.scalars, *scope.scalars, *starts] or ["0"]
    if depth > 1 or rng.random() < 0.3:
        extent = [f'tp.dim("{rng.choice(places.dims)}")'] if places.dims and rng.random() < 0.3 else []
        return rng.choice([*atoms, *atoms, str(rng.randrange(5)), *extent])
    one, two = (scalar(places, scope, rng, depth + 1) for _ in range(2))
    return _combined(one, two, str(rng.randrange(1, 4)), places, rng)


def tile(places: Places, scope: Scope, rng: random.Random, walker: str) -> str:
    """Positions along a walker: an axis with its tag."""
    lanes, one = f"{walker}.elements", scalar(places, scope, rng, 1)
    if rng.random() < 0.15:
        return f"{walker}.shift({rng.choice([one, '1', '-1', '2'])})"
    return _combined(lanes, one, str(rng.randrange(1, 4)), places, rng)


def _combined(one: str, two: str, c: str, places: Places, rng: random.Random) -> str:
    extent = f'tp.dim("{rng.choice(places.dims)}")' if places.dims else c
    forms = [
        f"{one} + {c}", f"{one} - {c}", f"{one} + {two}", f"{one} * {c}", f"{one} // {c}", f"{one} % {c}",
        f"{one} * {c} + {two} % {c}", f"{extent} - 1 - {one}", f"{one} + {extent}",
        f"tp.minimum({one} + {c}, {extent} - 1)", f"tp.maximum({one} - {c}, 0)",
        f"tp.clip({one}, {c}, {extent} - 1)", f"tp.where({one} < {two}, {one}, {c})",
        f"tp.where({one} % 2 == 0, {one} + 1, {one} - 1)", f"({one} + {c}) % {extent}", f"{two} - {one}",
        f"tp.abs({one} - {c})", f"{one} * {two}", f"{one} * {extent} + {two}", f"tp.cdiv({one}, {c})",
    ]  # fmt: skip
    return f"({rng.choice(forms)})"


def condition(places: Places, scope: Scope, rng: random.Random) -> str:
    one, two = scalar(places, scope, rng, 1), scalar(places, scope, rng, 1)
    made = f"{one} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} {two}"
    if one.isdigit() and two.isdigit():
        return f"{(scope.scalars or ['0'])[0]} >= 1" if scope.scalars else "True"
    if rng.random() < 0.2:
        return f"({made}) {rng.choice('&|')} ({condition(places, scope, rng)})"
    return made


# Changes. Each says whether it found a place.


def _off_by_some(places: Places, rng: random.Random) -> bool:
    found = [node for node, _ in places.expressions if isinstance(node, ast.Constant) and type(node.value) is int]
    if not found:
        return False
    node = rng.choice(found)
    node.value = max(0, node.value + rng.choice([-1, 1, 1, 2]))
    return True


def _other_comparison(places: Places, rng: random.Random) -> bool:
    found = [node for node, _ in places.expressions if isinstance(node, ast.Compare)]
    if not found:
        return False
    rng.choice(found).ops = [rng.choice(_COMPARISONS)()]
    return True


def _other_operator(places: Places, rng: random.Random) -> bool:
    found = [node for node, _ in places.expressions if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS]
    if not found:
        return False
    node = rng.choice(found)
    node.op = rng.choice(_OPERATORS[type(node.op)])()
    return True


def _other_name(places: Places, rng: random.Random) -> bool:
    found = [
        (node, [name for name in scope.scalars if name.isidentifier() and name != node.id])
        for node, scope in places.expressions
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in scope.scalars
    ]
    found = [(node, names) for node, names in found if names]
    if not found:
        return False
    node, names = rng.choice(found)
    node.id = rng.choice(names)
    return True


def _other_index(places: Places, rng: random.Random) -> bool:
    found = places.accesses()
    if not found:
        return False
    stores = [one for one in found if isinstance(one[0].ctx, ast.Store)]
    node, scope = rng.choice(stores if stores and rng.random() < 0.6 else found)
    axes = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    axis = rng.randrange(len(axes))
    if isinstance(axes[axis], ast.Slice):
        low = rng.randrange(3)
        axes[axis] = ast.Slice(ast.Constant(low), ast.Constant(low + rng.randrange(1, 4)))
    else:
        used = {one.id for one in ast.walk(axes[axis]) if isinstance(one, ast.Name)}
        walkers = [name for name in scope.tiles if name in used]
        whole = bool(walkers) and not _is_single(axes[axis])
        text = tile(places, scope, rng, walkers[0]) if whole else scalar(places, scope, rng)
        axes[axis] = ast.parse(text, mode="eval").body
    node.slice = ast.Tuple(axes, ast.Load()) if len(axes) > 1 else axes[0]
    return True


def _is_single(index: ast.expr) -> bool:
    """Whether walkers occur in an index only as `i.start` and the like."""
    attributes = [node for node in ast.walk(index) if isinstance(node, ast.Attribute)]
    return any(node.attr in ("start", "stop", "number") for node in attributes)


def _guard_gone(places: Places, rng: random.Random) -> bool:
    found = [
        (block, at) for block, _ in places.blocks for at, one in enumerate(block) if isinstance(one, ast.If)
    ]  # fmt: skip
    if not found:
        return False
    block, at = rng.choice(found)
    one = block[at]
    assert isinstance(one, ast.If)
    if one.orelse and rng.random() < 0.5:
        if rng.random() < 0.5:
            one.orelse = []
        else:
            one.body, one.orelse = one.orelse, one.body
    else:
        block[at : at + 1] = one.body
    return True


def _guarded(places: Places, rng: random.Random) -> bool:
    """A guard around a statement that nothing later needs: a store, or a loop."""
    found = [
        (block, at, scope)
        for block, scope in places.blocks
        for at, one in enumerate(block)
        if _is_store(one) or (isinstance(one, ast.If | ast.For) and "tp.parallel" not in ast.unparse(one))
    ]
    if not found:
        return False
    block, at, scope = rng.choice(found)
    test = ast.parse(condition(places, scope, rng), mode="eval").body
    orelse = [copy.deepcopy(block[at])] if rng.random() < 0.3 else []
    block[at] = ast.If(test, [block[at]], orelse)
    return True


def _is_store(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Subscript()]) | ast.AugAssign(target=ast.Subscript()) | ast.Expr(value=ast.Call()):
            return "tp." not in ast.unparse(statement).partition("(")[0]
        case _:
            return False


def _store_gone_or_doubled(places: Places, rng: random.Random) -> bool:
    found = [(block, at) for block, _ in places.blocks for at, one in enumerate(block) if _is_store(one)]
    if not found:
        return False
    block, at = rng.choice(found)
    if rng.random() < 0.3:
        block[at] = ast.Pass()
    else:
        block.insert(at, copy.deepcopy(block[at]))
        _other_index(places, rng)
    return True


def _looped(places: Places, rng: random.Random) -> bool:
    """A store in a loop of its own, whose counter enters its index."""
    found = [(block, at, scope) for block, scope in places.blocks for at, one in enumerate(block) if _is_store(one)]
    if not found:
        return False
    block, at, scope = rng.choice(found)
    bounds = rng.choice(["2", "3", f"0, 4, {rng.choice([1, 2])}", scalar(places, scope, rng, 1)])
    loop = ast.parse(f"for q in range({bounds}):\n    pass").body[0]
    assert isinstance(loop, ast.For)
    loop.body = [block[at]]
    numbers = [one for one in ast.walk(block[at]) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    for node in numbers:
        axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        axis = rng.choice(axes)
        if isinstance(axis, ast.BinOp):
            axis.left = ast.BinOp(axis.left, ast.Add(), ast.Name("q", ast.Load()))
    block[at] = loop
    return True


def _other_access(places: Places, rng: random.Random) -> bool:
    arguments = [one for one in places.kernel.args.args if isinstance(one.annotation, ast.Subscript)]
    argument = rng.choice(arguments)
    annotation = argument.annotation
    assert isinstance(annotation, ast.Subscript)
    text = ast.unparse(annotation)
    for one, other in (("Unique[", "Index["), ("Index[", "Unique[")):
        if one in text:
            argument.annotation = ast.parse(text.replace(one, other), mode="eval").body
            return True
    assert isinstance(annotation.value, ast.Name)
    if "Offsets" in text or annotation.value.id not in _ACCESS:
        return False
    annotation.value.id = rng.choice(_ACCESS[annotation.value.id])
    return True


def _other_dimension(places: Places, rng: random.Random) -> bool:
    argument = rng.choice(places.kernel.args.args)
    annotation = argument.annotation
    if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.slice, ast.Tuple) or not places.dims:
        return False
    words = annotation.slice.elts[1]
    assert isinstance(words, ast.Constant)
    dims = str(words.value).split()
    axis = rng.randrange(len(dims))
    name = rng.choice(places.dims)
    dims[axis] = rng.choice([name, f"{name}+1", f"2*{name}", "_", "4", f"{dims[axis]}+1"])
    words.value = " ".join(dims)
    return True


def _contract_gone(places: Places, rng: random.Random) -> bool:
    for block, _ in places.blocks:
        for statement in block:
            if "tp.require" in ast.unparse(statement).partition("(")[0]:
                block.remove(statement)
                return True
    return False


def _other_bound(places: Places, rng: random.Random) -> bool:
    """Another start, stop or end of a loop."""
    found = [
        (node, scope)
        for node, scope in places.expressions
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("range", "tiles"))
    ]
    if not found:
        return False
    node, scope = rng.choice(found)
    bound = ast.parse(scalar(places, scope, rng, 1), mode="eval").body
    if ast.unparse(node.func) == "range":
        node.args[rng.randrange(min(2, len(node.args)))] = bound
    else:
        word = rng.choice(["start", "stop"])
        node.keywords = [*(one for one in node.keywords if one.arg != word), ast.keyword(word, bound)]
    return True


Change = Callable[[Places, random.Random], bool]
CHANGES: list[Change] = [
    _off_by_some, _off_by_some, _other_comparison, _other_operator, _other_operator, _other_name, _other_index,
    _other_index, _other_index, _other_index, _guard_gone, _guarded, _guarded, _store_gone_or_doubled, _looped,
    _other_access, _other_dimension, _contract_gone, _other_bound,
]  # fmt: skip
"""Those that make wrong kernels most often stand here more than once."""
