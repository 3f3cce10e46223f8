"""`tileproof compile`: which launch a kernel is compiled for, what is told of the code, and what is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from oracles.tile_ir_operations import has_assembler
from support.cli_samples import BAD, GOOD, HEAD, Ran
from tileproof.backends.cuda.assembler.cubin import resources_of
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.cli.compile import of_sizes
from tileproof.cli.kernel_file import load
from tileproof.language.kernel import Schedule
from tileproof.runtime.launch import cuda_code as gpu
from tileproof.runtime.launch.ahead_of_time import plan_launch

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
Run = Callable[..., Ran]
Write = Callable[[str, str], str]

WITH_ARGUMENTS = GOOD + dedent("""
    import numpy as np

    def arguments():
        return [np.empty(100, np.float32), np.ones(100, np.float32)], {"B": 32}
    """)
TWO = GOOD + GOOD.removeprefix(HEAD).replace("double", "twice")
PAIRS = """
import numpy as np

def arguments():
    y, x = np.empty(100, np.float32), np.ones(100, np.float32)
    return {"double": ([y, x], {}), "twice": ([y, x], {"B": 16})}
"""
MATMUL = HEAD + dedent('''
    @tp.kernel
    def matmul(c: Out[T, "M N"], a: In[T, "M K"], b: In[T, "K N"], scale: f32, *, B: int = 16) -> None:
        for i, j in tp.parallel(M=B, N=B):
            acc = tp.zeros((i, j), f32)
            for k in tp.tiles(K=B):
                acc = tp.mma(a[i, k], b[k, j], acc)
            c[i, j] = acc * scale
    ''')
PADDED = HEAD + dedent('''
    @tp.kernel
    def padded(y: Out[T, "N+2*H-3"], x: In[T, "N"], *, H: int = 1) -> None:
        y[:] = tp.zeros((1,), x.dtype)
    ''')
ENTRIES = (
    "import tileproof as tp\n"
    "from tileproof import In, Index, Offsets, Out, Unique, f32\n"
    "@tp.kernel\n"
    'def gather(y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"], once: In[Unique["V"], "U"],\n'
    '           off: In[Offsets["N"], "E+1"]) -> None:\n'
    "    for e, n in tp.parallel(tp.segments(off, N=4)):\n"
    "        y[n] = x[at[n]]\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no GPU."""
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(driver, "device_count", lambda: 0)
    return tmp_path / "kernels"


def rows(ran: Ran) -> list[list[str]]:
    """The cells of the table, without the units."""
    return [re.split(r" {2,}", line) for line in ran.out.splitlines() if re.match(r"[\w.]+ +sm_\d+ ", line)]


# What is told.


def test_a_kernel_is_compiled_for_every_architecture_named(tileproof: Run, write: Write) -> None:
    ran = tileproof("compile", write("good.py", WITH_ARGUMENTS), "--arch", "sm_90,sm_80")
    assert (ran.code, ran.err) == (0, "")
    heading, first, second, summary = ran.out.splitlines()
    assert heading.split() == ["kernel", "arch", "bytecode", "assembler", "registers", "spills", "shared", "code"]
    taken = r" +\d+ ms +\d+\.\d\d s +[1-9]\d* +0 +0 bytes +\d+\.\d KiB"
    assert re.fullmatch(f"double  sm_90{taken}", first)
    assert re.fullmatch(f"double  sm_80{taken}", second)
    assert re.fullmatch(r"1 kernel for 2 architectures: 2 compiled \(\d+\.\d\d s\)", summary)


def test_what_was_compiled_is_kept_for_the_next_time(tileproof: Run, write: Write) -> None:
    command = ("compile", write("good.py", WITH_ARGUMENTS), "--arch", "sm_90", "--remarks")
    before, again = tileproof(*command), tileproof(*command)
    assert [row[2:4] for row in rows(again)] == [["-", "kept"]]
    assert [row[4:] for row in rows(again)] == [row[4:] for row in rows(before)]
    assert "1 compiled, 1 of them before" in again.out
    lines = [re.findall(r"^remark: .*", ran.out, re.MULTILINE) for ran in (before, again)]
    assert lines[0] == lines[1] != []


def test_remarks_say_how_tiles_are_loaded(tileproof: Run, write: Write) -> None:
    ran = tileproof("compile", write("good.py", WITH_ARGUMENTS), "--arch", "sm_90", "--remarks")
    assert re.search(r"^remark: double on sm_90: line 7: a load by ", ran.out, re.MULTILINE)


def test_a_product_without_tensor_cores_is_warned_of_once(tileproof: Run, write: Write) -> None:
    shapes = "M=64,N=64,K=64,scale=2"
    ran = tileproof("compile", write("matmul.py", MATMUL), "--arch", "sm_90,sm_100", "--shapes", shapes)
    assert (ran.code, len(rows(ran))) == (0, 2)
    (warning,) = re.findall(r"^warning: .*", ran.out, re.MULTILINE)
    assert warning.startswith("warning: matmul on sm_90, sm_100: line 9: the matrix product does not use tensor cores")


def test_help_teaches_with_examples(tileproof: Run) -> None:
    ran = tileproof("compile", "--help")
    assert ran.code == 0
    for text in ("--arch sm_80,sm_90 -o app.tpb", "--schedule persistent,group=8", "arguments()", "exit code"):
        assert text in ran.out


# Which launch.


def test_a_file_without_kernels_is_no_error(tileproof: Run, write: Write) -> None:
    ran = tileproof("compile", write("plain.py", "x = 1\n"), write("good.py", WITH_ARGUMENTS), "--arch", "sm_90")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "plain.py: no kernels")


def test_a_kernel_whose_launch_is_not_known_is_told_how_to_say_it(tileproof: Run, write: Write) -> None:
    ran = tileproof("compile", write("matmul.py", MATMUL), "--arch", "sm_90")
    assert (ran.code, rows(ran)) == (1, [])
    assert ran.out.startswith(
        'matmul.py: matmul: no launch is known; give --kernel matmul --shapes "M=...,N=...,K=...,scale=...", '
        "or let arguments() in the file return one\n"
    )


def test_several_kernels_have_their_launches_by_name(tileproof: Run, write: Write) -> None:
    ran = tileproof("compile", write("two.py", TWO + PAIRS), "--arch", "sm_90")
    assert (ran.code, [row[0] for row in rows(ran)]) == (0, ["double", "twice"])


def test_a_kernel_can_be_compiled_for_several_launches(tileproof: Run, write: Write) -> None:
    text = GOOD + dedent("""
        import numpy as np

        def arguments():
            return [([np.empty(n, np.float32), np.ones(n, np.float32)], {}) for n in (100, 101)]
        """)
    ran = tileproof("compile", write("good.py", text), "--arch", "sm_90", "--emit", "cubin", "out", "-o", "app.tpb")
    assert (ran.code, [row[0] for row in rows(ran)]) == (0, ["double", "double.2"])
    assert "1 kernel for 1 architecture: 2 compiled" in ran.out
    assert {path.name for path in Path("out").iterdir()} == {"double.sm_90.cubin", "double.2.sm_90.cubin"}
    message = tileproof("compile", "good.py", "--arch", "sm_90", "--shapes", "N=101|100")
    assert (message.code, "2 compiled, 2 of them before" in message.out) == (0, True)
    listed = tileproof("compile", "--list", "app.tpb").out.splitlines()[1:]
    assert [line.split()[-2] for line in listed] == ["y=100:f32,x=100:f32", "y=101:f32,x=101:f32"]


def test_one_kernel_can_be_chosen(tileproof: Run, write: Write) -> None:
    ran = tileproof("compile", write("two.py", TWO + PAIRS), "--arch", "sm_90", "--kernel", "twice")
    assert (ran.code, [row[0] for row in rows(ran)]) == (0, ["twice"])


def test_a_constant_given_here_comes_before_that_of_the_file(tileproof: Run, write: Write) -> None:
    file = write("good.py", WITH_ARGUMENTS)
    ran = tileproof("compile", file, "--arch", "sm_90", "--with", "B=64", "--emit", "text", "out")
    assert (ran.code, "tile<64xf32>" in Path("out/double.sm_90.txt").read_text()) == (0, True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise KeyError('sizes')", "`arguments()` of `good.py` raises KeyError: 'sizes'\n"),
        ("return 5", "`arguments()` of `good.py` gives int, not arguments\n"),
        ("return [1]", "`arguments()` of `good.py` gives int, not arguments\n"),
        ("return ([], 5)", "`arguments()` of `good.py` gives tuple, not arguments\n"),
    ],
)
def test_a_function_that_gives_no_arguments_is_told(tileproof: Run, write: Write, body: str, message: str) -> None:
    ran = tileproof("compile", write("good.py", f"{GOOD}\ndef arguments():\n    {body}\n"), "--arch", "sm_90")
    assert (ran.code, f"error[TP0903]: {message}" in ran.out) == (1, True)
    assert "good.py: double: rejected\n" in ran.out


def test_what_arguments_print_does_not_mix_with_the_table(tileproof: Run, write: Write) -> None:
    text = WITH_ARGUMENTS.replace("    return [", "    print('working')\n    return [")
    ran = tileproof("compile", write("good.py", text), "--arch", "sm_90")
    assert (ran.code, ran.err, "working" in ran.out) == (0, "working\n", False)


def test_a_launch_has_the_sizes_the_scalars_and_the_element_types_given(write: Write) -> None:
    (kernel,) = load(write("matmul.py", MATMUL)).kernels
    first, second = of_sizes(kernel, "M=64, N=32|48,K=128,scale=0.5", "bf16", {"B": 32})
    c, a, b, scale = first.args
    assert [each.shape for each in (c, a, b)] == [(64, 32), (64, 128), (128, 32)]
    assert [arg.shape for arg in second.args[:3]] == [(64, 48), (64, 128), (128, 48)]
    assert {each.dtype.name for each in (c, a, b)} == {"bfloat16"}
    assert (scale, first.constants) == (0.5, {"B": 32})
    (mixed,) = of_sizes(kernel, "M=4,N=4,K=4,scale=1", "f16,T=f32", {})
    assert {arg.dtype.name for arg in mixed.args[:3]} == {"float32"}


def test_extents_that_follow_by_an_equation_are_computed(write: Write) -> None:
    (kernel,) = load(write("padded.py", PADDED)).kernels
    for arguments, length in (({}, 9), ({"H": 4}, 15)):
        (launch,) = of_sizes(kernel, "N=10", None, arguments)
        assert [arg.shape for arg in launch.args] == [(length,), (10,)]


def test_an_argument_larger_than_the_machine_takes_no_memory(write: Write) -> None:
    (kernel,) = load(write("good.py", GOOD)).kernels
    (launch,) = of_sizes(kernel, f"N={1 << 40}", None, {})
    plan = plan_launch(launch, ["sm_90"])
    assert plan.variants[0].specialization.is_wide
    assert plan.bound.dimensions == {"N": 1 << 40}


def test_index_tensors_hold_entries_that_a_launch_accepts(write: Write) -> None:
    (kernel,) = load(write("gather.py", ENTRIES)).kernels
    (launch,) = of_sizes(kernel, "N=10,V=6,U=8,E=3", None, {})
    _, _, at, once, off = launch.args
    assert (at.min() >= 0, at.max() < 6, sorted(once), off[0], off[-1]) == (
        True, True, [-1, -1, 0, 1, 2, 3, 4, 5], 0, 10
    )  # fmt: skip
    assert plan_launch(launch, ["sm_90"]).variants


def test_a_schedule_is_part_of_what_is_compiled(
    tileproof: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Schedule] = []
    request = gpu.Variant.request
    monkeypatch.setattr(gpu.Variant, "request", lambda self: seen.append(self.schedule) or request(self))
    file = write("good.py", WITH_ARGUMENTS)
    assert tileproof("compile", file, "--arch", "sm_90", "--schedule", "persistent, group=2,tma=false").code == 0
    assert set(seen) == {Schedule(persistent=True, group=2, tma=False)}


# What is refused.


def test_a_wrong_kernel_is_reported_as_check_reports_it(tileproof: Run, write: Write) -> None:
    write("bad.py", BAD)
    checked = tileproof("check", "bad.py")
    ran = tileproof("compile", "bad.py", "--arch", "sm_90", "--shapes", "M=8,N=4", "-o", "bad.tpb")
    assert ran.code == 1
    assert ran.out.partition("bad.py: turn: rejected")[0] == checked.out.partition("bad.py: turn: rejected")[0]
    assert ran.out.endswith("bad.tpb is not written: a bundle holds all that was asked for\n")
    assert not Path("bad.tpb").exists()


def test_an_architecture_that_lacks_an_element_type_is_told_and_the_others_are_compiled(
    tileproof: Run, write: Write
) -> None:
    text = GOOD.replace("import In", "import f8e4m3, In").replace("x: In[f32", "x: In[f8e4m3").replace(
        "x[i] * 2", "x[i].to(f32)"
    )
    ran = tileproof("compile", write("wide.py", text), "--arch", "sm_80,sm_90", "--shapes", "N=64")
    assert ran.code == 1
    assert re.search(r"^double  sm_80 +rejected: TP0403$", ran.out, re.MULTILINE)
    assert re.search(r"^double  sm_90 +\d+ ms", ran.out, re.MULTILINE)
    assert "error[TP0403]: GPUs of architecture sm_80 do not have the element type f8e4m3\n" in ran.out
    assert "1 kernel for 2 architectures: 1 compiled, 1 rejected" in ran.out
    assert "Incompatibility" not in ran.out
    verbose = tileproof("compile", "wide.py", "--arch", "sm_80", "--shapes", "N=64", "--verbose")
    assert (verbose.code, "Incompatibility with architecture" in verbose.out) == (1, True)


def test_a_file_that_cannot_be_imported_is_reported(tileproof: Run) -> None:
    ran = tileproof("compile", "missing.py", "--arch", "sm_90")
    assert (ran.code, "error[TP0901]: `missing.py` cannot be read" in ran.out) == (1, True)


def test_without_an_assembler_there_is_a_cure(
    tileproof: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEPROOF_TILEIRAS", "nowhere/tileiras")
    ran = tileproof("compile", write("good.py", WITH_ARGUMENTS), "--arch", "sm_90")
    assert (ran.code, ran.out.startswith("error[TP0911]: "), "pip install 'tileproof[cuda]'" in ran.out) == (
        1, True, True
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a Python file with kernels, or a bundle: --list BUNDLE"),
        (["good.py"], "there is no GPU here: say for which to compile, as in --arch sm_90; there are sm_80, "),
        (["good.py", "--arch", "sm_9"], "--arch sm_9: there is no such architecture; did you mean `sm_90`?"),
        (["good.py", "--arch", ","], "--arch names no architecture"),
        (["good.py", "--arch", "sm_90", "--kernel", "dubble"], "no file has it; did you mean `double`?"),
        (["two.py", "--arch", "sm_90", "--shapes", "N=8"], "choose it with --kernel; there are double, twice"),
        (["good.py", "--arch", "sm_90", "--with", "C=4"], "--with C: no kernel has a constant of that name"),
        (["good.py", "--arch", "sm_90", "--shapes", "x8"], "there is no dimension or scalar `x8`; `double` has N"),
        (["good.py", "--arch", "sm_90", "--shapes", "N=8,N=9"], "`N` is given twice"),
        (["good.py", "--arch", "sm_90", "--shapes", "N=8x"], "`N=8x` is not a dimension and its extent"),
        (["good.py", "--arch", "sm_90", "--shapes", "N=8", "--element", "float"], "--element float: there is no such"),
        (["good.py", "--arch", "sm_90", "--shapes", ""], "`double` needs a size for N, a dimension of `y`"),
        (["matmul.py", "--arch", "sm_90", "--shapes", "M=8,N=8,K=8"], "the scalar `scale` needs a value"),
        (["matmul.py", "--arch", "sm_90", "--shapes", "M=8,N=8,K=8,scale=8x8"], "`8x8` is no number"),
        (["good.py", "--arch", "sm_90", "--schedule", "groups=8"], "--schedule groups: no schedule has that; did you"),
        (["good.py", "--arch", "sm_90", "--schedule", "group=many"], "the value is a number, true or false"),
        (["good.py", "--arch", "sm_90", "--schedule", "warps=5"], "warps of a schedule is 4 or 8, not 5"),
        (["good.py", "--arch", "sm_90", "--emit", "ptx", "out"], "--emit ptx: that is not written"),
        (["good.py", "--arch", "sm_90", "--jobs", "0"], "--jobs 0: at least one must run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_says_what_is_right(tileproof: Run, write: Write, arguments: list[str], said: str) -> None:
    write("good.py", GOOD)
    write("two.py", TWO)
    write("matmul.py", MATMUL)
    ran = tileproof("compile", *arguments)
    assert (ran.code, ran.err.startswith("tileproof compile: "), said in ran.err) == (2, True, True), ran.err


# What is written.


def test_files_can_be_had_of_every_kind(tileproof: Run, write: Write) -> None:
    kinds = [word for kind in ("bytecode", "text", "cubin") for word in ("--emit", kind, "out")]
    file = write("good.py", WITH_ARGUMENTS)
    for _ in range(2):  # made, and found in the cache
        assert tileproof("compile", file, "--arch", "sm_90", *kinds).code == 0
        results = {path.name: path for path in Path("out").iterdir()}
        assert set(results) == {"double.sm_90.tilebc", "double.sm_90.txt", "double.sm_90.cubin"}
        assert [entry.name for entry in decode(results["double.sm_90.tilebc"].read_bytes()).entries] == ["double"]
        assert "entry @double(" in results["double.sm_90.txt"].read_text()
        assert resources_of(results["double.sm_90.cubin"].read_bytes())[0].arch == "sm_90"
        for path in results.values():
            path.unlink()


def test_kernels_of_one_name_have_files_of_their_own(tileproof: Run, write: Write) -> None:
    files = write("a.py", WITH_ARGUMENTS), write("b.py", WITH_ARGUMENTS)
    assert tileproof("compile", *files, "--arch", "sm_90", "--emit", "cubin", "out").code == 0
    assert {path.name for path in Path("out").iterdir()} == {"a.double.sm_90.cubin", "b.double.sm_90.cubin"}


def test_a_bundle_lists_what_is_in_it(tileproof: Run, write: Write) -> None:
    ran = tileproof("compile", write("good.py", WITH_ARGUMENTS), "--arch", "sm_80,sm_90", "-o", "app.tpb")
    assert (ran.code, bool(re.search(r"^wrote app\.tpb: \d+\.\d KiB$", ran.out, re.MULTILINE))) == (0, True)
    message = tileproof("compile", "--list", "app.tpb")
    first, *listed = message.out.splitlines()
    assert re.fullmatch(r"app\.tpb: double, \d+\.\d KiB, by tileproof \S+ and assembler \S+", first)
    assert listed == ["double for sm_80, sm_90: y=100:f32,x=100:f32 B=32"]


def test_a_file_that_is_no_bundle_is_told(tileproof: Run, write: Write) -> None:
    ran = tileproof("compile", "--list", write("good.py", GOOD))
    assert (ran.code, ran.out.startswith("error[TP0904]: `good.py` is not a bundle")) == (1, True)


def test_an_array_beyond_all_addresses_is_told_in_a_line(tileproof: Run, write: Write) -> None:
    large = "9" * 18, "has more bytes than this machine has addresses"
    for extent, message in (large, ("9" * 30, "is not a dimension")):
        words = ("--kernel", "double", "--shapes", f"N={extent}")
        ran = tileproof("compile", write("double.py", GOOD), "--arch", "sm_90", *words)
        assert (ran.code, message in ran.err, ran.err.count("\n")) == (2, True, 1)
