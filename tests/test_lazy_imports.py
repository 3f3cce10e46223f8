"""`import tileproof` is quick: what a program that only defines kernels does not need is loaded on demand."""

from __future__ import annotations

import copy
import importlib.util
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import tileproof as tp
from tileproof.language.dtypes import ALL, BF16, ENTRY, F32, F64, I32, INDEX, TF32, DType, DTypeVar, by_storage

HEAVY = ("numpy", "ml_dtypes", "llvmlite", "z3", "tileproof.frontend", "tileproof.analysis", "tileproof.runtime")
DEFINES_A_KERNEL = '''
    import tileproof as tp
    from tileproof import In, Out, T

    @tp.kernel
    def add(c: Out[T, "N"], a: In[T, "N"], b: In[T, "N"], *, B: int = 8) -> None:
        """Adds."""
        for n in tp.parallel(N=B):
            c[n] = a[n] + b[n]
'''


def loaded(program: str, *arguments: str) -> set[str]:
    """Which heavy modules a fresh Python has loaded after running a program."""
    return modules_after(program, *arguments).intersection(HEAVY)


def modules_after(program: str, *arguments: str) -> set[str]:
    """All modules that a fresh Python has loaded after running a program."""
    text = f"import sys\n{dedent(program)}\nsys.stderr.write(' '.join(sys.modules))\n"
    done = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_defining_a_kernel_loads_no_array_library_no_compiler_and_no_checker(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(dedent(DEFINES_A_KERNEL))
    program = f"""
        sys.path.insert(0, {str(tmp_path)!r})
        import kernels
        assert repr(kernels.add).startswith("<kernel add at")
        assert kernels.add.source_lines
        assert {{"check", "Race", "f32"}} <= set(dir(kernels.tp))
    """
    assert loaded(program) == set()


def test_what_the_first_launch_needs_it_loads(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(dedent(DEFINES_A_KERNEL))
    program = f"""
        sys.path.insert(0, {str(tmp_path)!r})
        import kernels
        try:
            kernels.add()
        except kernels.tp.LaunchError as error:
            assert error.diagnostics[0].code.id == "TP0601"
        else:
            raise SystemExit("a launch without arguments was accepted")
    """
    assert {"numpy", "tileproof.runtime"} <= loaded(program)


def test_a_program_without_a_gpu_loads_nothing_that_launches_on_one(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(dedent(DEFINES_A_KERNEL))
    program = f"""
        sys.path.insert(0, {str(tmp_path)!r})
        import kernels
        tp = kernels.tp
        x, y = tp.ones(100), tp.empty(100)
        for _ in range(2):
            kernels.add(y, x, x)
        with tp.backend("interpreter"):
            kernels.add(y, x, x)
        with tp.Graph() as graph:
            kernels.add(y, x, x)
        graph.replay(tp.Stream())
        tp.copy(x, y)
        assert x.fetch().numpy().sum() == tp.memory().tensors * 100
        parts = [name.removeprefix("tileproof.runtime.") for name in sys.modules if "tileproof.runtime." in name]
        assert "device.host_device" in parts
        assert not [name for name in parts if ".cuda_" in name], parts
    """
    assert "tileproof.runtime" in loaded(program)


COMPILED_AT_ONCE = re.compile(r"^from dataclasses import .*\bdataclass\b(.|\n)*^@dataclass\(.*slots=True", re.MULTILINE)
"""Dataclasses with slots whose methods the standard library compiles while their module loads."""
OF_A_WARM_LAUNCH = {
    "tileproof.frontend": {"captures", "dimensions", "optional", "signature", "source", "specialization"},
    "tileproof.analysis": {"verdict"},
    "tileproof.lowering": {"split_join"},
    "tileproof.compiler": {"cache", "proofs", "proved"},
    "tileproof.backends": {"base", "cpu", "parallel_space", "scalars"},
    "tileproof.backends.cpu": {"codegen", "device", "llvm", "target"},
    "tileproof.backends.cpu.codegen": {"parameters"},
    "tileproof.backends.cpu.device": {"loaded_code", "pool", "queue"},
}
"""What a launch needs of the packages that compile and prove, if code and proof are on disk."""


def test_a_launch_of_a_kernel_whose_code_is_on_disk_loads_no_compiler_and_no_prover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "kernels.py").write_text(dedent(DEFINES_A_KERNEL))
    program = f"""
        sys.path.insert(0, {str(tmp_path)!r})
        import kernels, numpy
        a, b, c = numpy.ones(20, numpy.float32), numpy.ones(20, numpy.float32), numpy.zeros(20, numpy.float32)
        with kernels.tp.backend("cpu"):
            kernels.add(c, a, b)
        assert (c == 2).all()
    """
    cold, warm = modules_after(program), modules_after(program)
    assert {"tileproof.analysis.prove", "tileproof.backends.cpu.codegen.program"} <= cold
    for package, allowed in OF_A_WARM_LAUNCH.items():
        inner = {name.removeprefix(f"{package}.") for name in warm if name.startswith(f"{package}.")}
        assert {name for name in inner if "." not in name} <= allowed, package
    assert not {"asyncio", "decimal", "ml_dtypes", "numpy.ma", "socket", "sysconfig", "z3"} & warm
    ours = {name for name in warm if name.partition(".")[0] == "tileproof"}
    assert len(ours) <= 95
    slow = [name for name in ours if COMPILED_AT_ONCE.search(source_of(name))]
    assert not slow, "import `dataclass` from tileproof.diagnostics.quick_dataclasses: the library's is slow"


def source_of(module: str) -> str:
    """The text of a module of tileproof."""
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).read_text()


def test_choosing_a_backend_and_naming_an_error_load_no_array_library() -> None:
    program = """
        import tileproof as tp
        with tp.backend("interpreter"):
            pass
        try:
            raise tp.Race()
        except tp.TileproofError:
            pass
    """
    assert loaded(program) <= {"tileproof.runtime"}


def test_the_pytest_plugin_loads_nothing_heavy() -> None:
    assert loaded("import tileproof.pytest_plugin") == set()


@pytest.mark.sweep(1)
@pytest.mark.parametrize("arguments", [["--help"], ["explain"], ["explain", "TP0301"], ["audit", "--help"]], ids=str)
def test_commands_that_check_nothing_load_nothing_heavy(arguments: list[str]) -> None:
    assert loaded("from tileproof.cli.main import main\nassert main() == 0", *arguments) == set()


def test_a_star_import_gives_every_public_name() -> None:
    program = """
        from tileproof import *
        import tileproof
        missing = set(tileproof.__all__) - set(globals())
        assert not missing, missing
        from tileproof.compiler.compile import check as real
        assert check is real
    """
    assert "numpy" in loaded(program)


def test_the_package_lists_its_public_names() -> None:
    assert set(tp.__all__) <= set(dir(tp))


def test_names_on_demand_are_the_real_ones_with_their_signatures() -> None:
    from tileproof.compiler import compile as check
    from tileproof.diagnostics import errors
    from tileproof.runtime.launch import backend_choice as choice
    from tileproof.runtime.launch import launch

    assert (tp.check, tp.interpret, tp.backend) == (check.check, launch.interpret, choice.backend)
    assert list(inspect.signature(tp.interpret).parameters)[:2] == ["kernel", "args"]
    for name in ("TileproofError", "KernelError", "LaunchError", "SanitizerError", "OutOfBounds", "Race", "Unwritten"):
        assert getattr(tp, name) is getattr(errors, name)


def test_a_name_that_does_not_exist_is_still_an_error() -> None:
    with pytest.raises(AttributeError, match="module 'tileproof' has no attribute 'lunch'"):
        tp.lunch  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(tp, "launch")


@pytest.mark.parametrize("value", [*ALL, INDEX, ENTRY, DTypeVar("T"), tp.check, tp.backend, tp.Race, tp.Kernel])
def test_public_values_survive_pickling_and_copying(value: object) -> None:
    for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert again == value
        assert hash(again) == hash(value)


def test_element_types_are_equal_by_name_and_never_change() -> None:
    assert len({*ALL, INDEX, ENTRY}) == len(ALL) + 2
    assert DType("f32", "float", 32) == F32
    assert DType("T", "float", 32) != DTypeVar("T")
    assert F32 != "f32"
    with pytest.raises(AttributeError, match="f32 is an element type: its bits cannot be set"):
        F32.bits = 64
    with pytest.raises(AttributeError, match="f32 is an element type: its name cannot be deleted"):
        del F32.name
    assert (F32.name, F32.kind, F32.bits) == ("f32", "float", 32)


def test_storage_is_the_numpy_type_of_an_element_type() -> None:
    for dtype in set(ALL) - {TF32}:
        assert dtype.storage is not None
        assert dtype.storage.itemsize * 8 == dtype.bits
        assert by_storage()[dtype.storage] is dtype
    assert [str(dtype.storage) for dtype in (I32, F64, BF16)] == ["int32", "float64", "bfloat16"]
    assert [dtype.storage for dtype in (TF32, INDEX, ENTRY)] == [None] * 3
