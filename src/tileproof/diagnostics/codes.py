"""Every mistake tileproof can name. A code never changes its meaning; a retired one is not used again.

TP00 source and syntax, TP01 the parallel space and names, TP02 element types, TP03 shapes, dimensions and
tags, TP04 what an operation demands, TP05 signatures and access, TP06 launch, TP07 seen by the interpreter,
TP08 ownership, bounds and coverage, TP09 tools and the assembler, TP10 models and the engine. The catalogue in
`docs/errors/` has a page for each, with a wrong and a right example.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_FOLDERS = (_HERE / "catalogue", _HERE.parents[2] / "docs" / "errors")
"""Where the pages of the catalogue are in an installed wheel, and in a checkout."""


class Code(Enum):
    """A numbered mistake: `id` as printed, `title` in a few words."""

    # Source and syntax.
    NO_SOURCE = "TP0001", "the source of a function cannot be read"
    NOT_PYTHON = "TP0002", "the file is not valid Python"
    UNSUPPORTED_STATEMENT = "TP0003", "a statement that kernels do not have"
    UNSUPPORTED_EXPRESSION = "TP0004", "an expression that kernels do not have"
    LEAVES_LOOP = "TP0005", "break or continue in a kernel"
    EARLY_RETURN = "TP0006", "return anywhere but at the end"
    LOOP_ELSE = "TP0007", "else on a loop"
    COMPREHENSION = "TP0008", "a comprehension or generator"
    STRING = "TP0009", "text inside a kernel"
    NESTED_FUNCTION = "TP0010", "a function or class defined inside a kernel"
    ASSERTION = "TP0011", "assert in a kernel"
    BOOLEAN_OPERATOR = "TP0012", "and, or, not on a tile"
    CHAINED_COMPARISON = "TP0013", "a chained comparison on tiles"
    IDENTITY_TEST = "TP0014", "is or in on tiles"
    ASSIGNMENT_TARGET = "TP0015", "an assignment to something that is not a name or a tensor element"
    STARRED = "TP0016", "a starred argument or target"
    CONDITION = "TP0017", "a condition that is not a single truth value"
    ASYNC = "TP0018", "async code in a kernel"
    NOT_ITERABLE = "TP0019", "a loop over something that is not a space, tiles or range"

    # The parallel space and names.
    UNKNOWN_NAME = "TP0101", "a name that is not defined"
    MAYBE_UNBOUND = "TP0102", "a name that may not be bound here"
    OUTER_REBOUND = "TP0103", "a name bound outside tp.parallel is rebound inside"
    WRITE_OUTSIDE = "TP0104", "a tensor is written outside tp.parallel"
    PARALLEL_PLACE = "TP0105", "tp.parallel is not at the top level of the kernel"
    PARALLEL_TWICE = "TP0106", "a second tp.parallel in one kernel"
    MUTABLE_CAPTURE = "TP0107", "a captured value that a kernel cannot hold"
    WALKER_COUNT = "TP0108", "the loop names and the walked dimensions differ in number"
    RECURSION = "TP0109", "a helper that calls itself"
    READS_OUTSIDE = "TP0110", "a tensor that is not In is read outside tp.parallel"
    NOT_CALLABLE = "TP0111", "a call of something kernels cannot call"
    BAD_CALL = "TP0112", "arguments that do not fit the function"
    REQUIRE_PLACE = "TP0113", "tp.require inside tp.parallel or about values only the device knows"
    JOIN_PLACE = "TP0114", "tp.join in the wrong place, missing, or twice"
    AFTER_JOIN = "TP0115", "a value of one piece is used after tp.join"
    RAW_PLACE = "TP0116", "tp.raw outside a tp.unsafe block"
    NO_REASON = "TP0117", "tp.unsafe without a reason"
    SPLIT_PLACE = "TP0118", "tp.split_at in the wrong place or of something that is not an InOut"
    BAD_COMBINER = "TP0119", "a combiner that does not give back what it takes"
    TOO_LONG = "TP0120", "a kernel of too many operations"

    # Element types.
    MIXED_TYPES = "TP0201", "two element types meet without a cast"
    WRONG_TYPE = "TP0202", "an operation that the element type does not have"
    STORE_CAST = "TP0203", "a store that needs a written cast"
    LITERAL_RANGE = "TP0204", "a literal that does not fit the type it meets"
    INTEGER_DIVISION = "TP0205", "/ on integers"
    LOOP_TYPE = "TP0206", "a value changes its type around a loop"
    BRANCH_TYPE = "TP0207", "a name has different types in two branches"
    NOT_A_DTYPE = "TP0208", "an element type is expected"
    UNSIGNED_INDEX = "TP0209", "a u64 used as an index"

    # Shapes, dimensions and tags.
    WRONG_DIMENSION = "TP0301", "an axis is indexed by a walker of another dimension"
    WRONG_RANK = "TP0302", "too many or too few indices"
    TAGS_MEET = "TP0303", "two different tags meet"
    LENGTHS_DIFFER = "TP0304", "axes of different lengths meet"
    DYNAMIC_SLICE = "TP0305", "a slice of a dimension that is not static"
    TILE_ARITHMETIC = "TP0306", "arithmetic on a tile walker"
    UNKNOWN_DIMENSION = "TP0307", "a dimension that no argument has"
    BAD_AXIS = "TP0308", "an axis the tile does not have"
    CARRIED_TAG = "TP0309", "a tile of one iteration is carried to the next"
    RAGGED_RESHAPE = "TP0310", "reshape, cat or slice along an axis that may be short"
    BAD_SHAPE = "TP0311", "a shape that is not made of lengths and walkers"
    BAD_INDEX = "TP0312", "something that cannot index an axis"
    CONSTANT_OUTSIDE = "TP0313", "a constant index outside a fixed dimension"
    NEGATIVE_INDEX = "TP0314", "a negative constant index"
    BAD_SIZE = "TP0315", "a tile size that is not a positive constant"
    MMA_SHAPE = "TP0316", "operands of a matrix product that do not fit"
    UNDECIDED = "TP0317", "a decision that needs the value of a dimension"

    # Attributes and methods.
    NO_ATTRIBUTE = "TP0401", "an attribute that does not exist"
    NOT_CONSTANT = "TP0402", "a constant is expected"
    ARCH_LACKS = "TP0403", "an element type or operation that the GPU architecture lacks"

    # Signatures and access.
    BAD_ANNOTATION = "TP0501", "a parameter's annotation is not one of the language"
    BAD_DIMENSIONS = "TP0502", "a dimension string that cannot be read"
    BAD_CONSTANT = "TP0503", "a constant parameter that is not int, float or bool"
    WRITES_IN = "TP0504", "an In is written"
    READS_OUT = "TP0505", "an Out is read"
    READS_SUM = "TP0506", "a Sum, Max or Min is read or overwritten"
    BAD_REDUCTION = "TP0507", "an update that the parameter's access does not allow"
    UNBOUND_CONSTANT = "TP0508", "a constant without value that is no dimension"
    BAD_GROUP = "TP0509", "tp.group of something that is not an element of a dimension"
    BAD_PARAMETER = "TP0510", "a kind of parameter that kernels do not have"
    MAY_BE_ABSENT = "TP0511", "an optional parameter is used without a test"

    # Launch.
    ARGUMENT_COUNT = "TP0601", "too many or too few arguments"
    ARGUMENT_RANK = "TP0602", "an argument with the wrong number of axes"
    ARGUMENT_DTYPE = "TP0603", "an argument with the wrong element type"
    DIMENSION_DIFFERS = "TP0604", "one dimension has two extents"
    CONTRACT = "TP0605", "a contract of the kernel does not hold"
    ARGUMENT_KIND = "TP0606", "an argument that is not an array or a number"
    CONTENTS = "TP0607", "an index tensor holds a value outside its dimension"
    CONSTANT_VALUE = "TP0608", "a constant with an unusable value"
    READ_ONLY = "TP0609", "a written argument is read-only"
    ALIASED = "TP0610", "a written argument shares memory"
    NO_BACKEND = "TP0611", "a backend that does not exist"
    MISALIGNED = "TP0612", "an argument whose elements are not aligned"
    BAD_SETTING = "TP0613", "an environment variable with a value that cannot be used"
    NO_DEVICE = "TP0614", "a device that does not exist"
    UNINITIALISED = "TP0615", "memory that nobody has written is read"
    IN_FLIGHT = "TP0616", "the host writes memory that a kernel uses"
    OUT_OF_MEMORY = "TP0617", "not enough memory for a tensor"
    SPENT = "TP0618", "an operation that was used before"
    NOT_IN_GRAPH = "TP0619", "something that a graph cannot hold"
    FORKED = "TP0620", "memory that was in flight when the process was forked"

    # Launch on a GPU.
    NO_GPU = "TP0621", "no GPU, or no driver for it"
    DRIVER_TOO_OLD = "TP0622", "a GPU driver that is too old"
    WRONG_ARCH = "TP0623", "a kernel compiled for another GPU architecture"
    OUT_OF_DEVICE_MEMORY = "TP0624", "not enough memory on the GPU"
    CUDA_FAILED = "TP0625", "the GPU reports an error"
    DEVICES_DIFFER = "TP0626", "arguments of one launch on different devices"
    MEMORY_KIND = "TP0627", "memory of a kind that a launch cannot take"

    # Seen by the interpreter.
    RACE = "TP0701", "two programs touch one element"
    OUT_OF_BOUNDS = "TP0702", "an access outside its tensor"
    UNWRITTEN = "TP0703", "an element of an Out that no program wrote"
    EMPTY_ARGMAX = "TP0704", "argmax or argmin of an empty axis"
    INDEX_OVERFLOW = "TP0705", "index arithmetic outside 64 bits"
    FALSE_ASSUMPTION = "TP0706", "an assumption of tp.unsafe that is false"
    LANES_MEET = "TP0707", "two lanes of one store write one element"

    # Decided by the checker.
    NOT_DISJOINT = "TP0801", "two programs would touch one element"
    DISJOINT_OPEN = "TP0802", "programs not proved to touch different elements"
    LANES_NOT_DISJOINT = "TP0803", "two lanes of one store not proved disjoint"
    NOT_IN_BOUNDS = "TP0811", "an index would leave its tensor"
    CHECK_DENIED = "TP0812", "a check would stay at run time"
    MAY_NOT_FIT = "TP0813", "an index that may not fit 64 bits"
    MAY_BE_EMPTY = "TP0814", "argmax of an axis that may be empty"
    NOT_AN_INDEX = "TP0815", "a value stored as an index was not proved to be one"
    TOO_MUCH_WORK = "TP0816", "a proof that takes more work than the checker does"
    NOT_COVERED = "TP0821", "elements of an Out would not be written"
    COVER_OPEN = "TP0822", "an Out not proved to be written as a whole"

    # Tools.
    NO_FILE = "TP0901", "a file that cannot be read"
    NO_KERNEL = "TP0902", "a file without the kernel asked for"
    IMPORT_FAILED = "TP0903", "a file that raises when it is imported"
    BAD_BUNDLE = "TP0904", "a bundle of compiled kernels that cannot be used"

    # The assembler of GPU code.
    NO_ASSEMBLER = "TP0911", "no assembler for GPU code"
    ASSEMBLER_VERSION = "TP0912", "an assembler of a version that cannot be used"
    ASSEMBLER_FAILED = "TP0913", "the assembler failed"
    ASSEMBLER_TIMEOUT = "TP0914", "the assembler took too long"

    # Models and the engine.
    MODEL_FILE = "TP1001", "a model file that cannot be read"
    MODEL_KIND = "TP1002", "a model of a kind that is not known"
    MODEL_TENSOR = "TP1003", "a tensor of a model that is missing or wrong"
    PROMPT = "TP1004", "a prompt that cannot be used"
    CHAT_TEMPLATE = "TP1005", "a chat template that fails"
    MODEL_MEMORY = "TP1006", "a model or its cache that does not fit the memory"
    SAMPLING = "TP1007", "a sampling setting that cannot be used"
    MISSING_PACKAGE = "TP1008", "a package that the engine needs is not installed"
    GRAMMAR = "TP1009", "a grammar for structured output that cannot be used"

    @property
    def id(self) -> str:
        return self.value[0]

    @property
    def title(self) -> str:
        return self.value[1]

    @classmethod
    def of(cls, identifier: str) -> Code | None:
        """The code printed as `identifier`, in any case; None if there is none."""
        return next((code for code in cls if code.id == identifier.upper()), None)


def page(code: Code) -> str:
    """The Markdown page that explains a code; its title alone where the pages are not installed."""
    for folder in _FOLDERS:
        file = folder / f"{code.id}.md"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return f"# {code.id}: {code.title}\n"
