"""The assembler at work: real modules, programs that fail in its place, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from samples.assembler_modules import (
    FILE,
    SMALLEST,
    assemble_many,
    assembled,
    bf16_sum,
    doubling,
    f8_constant,
    fake_toolchain,
    product,
)
from tileproof.backends.cuda.assembler.assemble import TIMEOUT, Assembled, Job
from tileproof.backends.cuda.assembler.toolchain import VARIABLE, find
from tileproof.backends.cuda.tileir.types import BF16, F32, Location
from tileproof.diagnostics import Code, Diagnostic, Source, Span, TileproofError
from tileproof.diagnostics.errors import KernelError, LaunchError

SOURCE = Source(FILE, tuple(f"line {number}\n" for number in range(1, 50)))
Fake = Callable[..., Path]


def span_of(location: Location) -> Span | None:
    """The source as a lowering would know it."""
    if location.file != FILE:
        return None
    return Span(SOURCE, location.line, location.column, location.line, location.column + 1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files go; all of them must be gone at the end of every test."""
    for name in (TIMEOUT, "TILEPROOF_VERBOSE"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Puts a piece of Python in the assembler's place; gives the folder it may write into."""

    def install(body: str) -> Path:
        monkeypatch.setenv(VARIABLE, str(fake_toolchain(tmp_path / "cuda", body)))
        return tmp_path / "cuda"

    return install


def refusal(code: Code, error: type[TileproofError] = KernelError, **values: object) -> Diagnostic:
    with pytest.raises(error) as caught:
        assembled(SMALLEST, "sm_90", kernel="work", **values)  # type: ignore[arg-type]
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.kernel) == (code, "work")
    assert diagnostic.help
    return diagnostic


def runs(pid: int) -> bool:
    """Whether a process is there and not merely waiting for somebody to hear of its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    """Whether a process ends soon: the system takes a moment to clear it away."""
    for _ in range(500):
        if not runs(pid):
            return True
        time.sleep(0.01)
    return False


def written(path: Path) -> str:
    """The text of a file that another process is about to write."""
    for _ in range(1000):
        if path.is_file() and path.read_text().endswith("\n"):
            return path.read_text().strip()
        time.sleep(0.01)
    raise AssertionError(f"{path.name} was never written")


# Real modules.


def test_the_smallest_module_is_assembled() -> None:
    machine_code = assembled(SMALLEST, "sm_90")
    assert machine_code.cubin.startswith(b"\x7fELF")
    assert [resource.entry for resource in machine_code.resources] == ["k"]
    assert machine_code.remarks == ()
    assert machine_code.seconds > 0


def test_the_same_module_gives_the_same_code_with_and_without_remarks() -> None:
    module = doubling("double")
    assert assembled(module, "sm_90").cubin == assembled(module, "sm_90", remarks=True).cubin


def remarks_of(module: bytes) -> dict[tuple[str, int], tuple[str, bool]]:
    machine_code = assembled(module, "sm_90", remarks=True, spans=span_of)
    for remark in machine_code.remarks:
        assert remark.span is not None
        assert remark.span.line == remark.line
    read = {(remark.kind, remark.line): (remark.text, remark.missed) for remark in machine_code.remarks}
    assert len(read) == len(machine_code.remarks)  # the assembler says everything twice
    return read


def test_remarks_tell_the_fast_way() -> None:
    read = remarks_of(product(BF16))
    assert read["load", 10] == read["load", 11] == ("a load by TMA", False)
    assert read["mma", 12] == ("a matrix product on tensor cores (SM90, 64 x 64 x 16 at a time)", False)
    assert read["store", 13] == ("a store by TMA", False)


def test_remarks_tell_what_was_missed_and_why() -> None:
    read = remarks_of(product(F32, 16, 16, aligned=False))
    for kind, line in (("load", 10), ("load", 11), ("store", 13)):
        text, missed = read[kind, line]
        assert missed
        assert text.endswith("not by TMA: base pointer not 16-byte aligned")
    assert read["mma", 12] == ("a matrix product by FMA, one element at a time", True)


# What the assembler refuses.


@pytest.mark.parametrize(
    ("module", "line", "words", "cure"),
    [
        (f8_constant(), 21, "sm_80 do not have the element type f8e4m3", "sm_90 or newer"),
        (bf16_sum(), 31, "sm_80 cannot add bf16 from several programs", "f32"),
    ],
    ids=["f8", "bf16 sum"],
)
def test_what_the_gpu_lacks_is_told_at_its_line(module: bytes, line: int, words: str, cure: str) -> None:
    with pytest.raises(KernelError) as caught:
        assembled(module, "sm_80", spans=span_of, kernel="work")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.ARCH_LACKS
    assert words in diagnostic.message
    assert cure in diagnostic.help
    assert diagnostic.span is not None
    assert diagnostic.span.line == line
    assert "Incompatibility" not in str(caught.value)
    assert assembled(module, "sm_90").cubin


def test_spans_may_be_given_as_a_table() -> None:
    span = span_of(Location(FILE, 21, 5))
    assert span is not None
    with pytest.raises(KernelError) as caught:
        assembled(f8_constant(), "sm_80", spans={Location(FILE, 21, 5): span})
    assert caught.value.diagnostics[0].span is span


def test_a_gpu_from_before_tiles_is_refused() -> None:
    with pytest.raises(LaunchError) as caught:
        assembled(SMALLEST, "sm_75")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, "too old" in diagnostic.message) == (Code.ARCH_LACKS, True)


def test_a_gpu_newer_than_the_assembler_asks_for_a_newer_one() -> None:
    with pytest.raises(LaunchError) as caught:
        assembled(SMALLEST, "sm_999")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.help) == (Code.ASSEMBLER_VERSION, "pip install --upgrade 'tileproof[cuda]'")


@pytest.mark.parametrize("arch", ["90", "sm_90 --help", "", "compute_90", "sm_90\n"])
def test_what_is_no_architecture_is_a_mistake_of_the_caller(arch: str) -> None:
    with pytest.raises(ValueError, match="written like sm_90"):
        assembled(SMALLEST, arch)


def test_bytes_that_are_no_module_are_refused_without_the_assemblers_words() -> None:
    with pytest.raises(KernelError) as caught:
        assembled(b"nothing of the kind", "sm_90", kernel="work")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.ASSEMBLER_FAILED
    assert diagnostic.message == "the assembler rejects the code of `work`"
    assert diagnostic.notes == ("TILEPROOF_VERBOSE=1, or --verbose, prints the output of the assembler",)


@pytest.mark.parametrize("way", ["argument", "variable"])
def test_the_assemblers_words_follow_on_request(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "variable":
        monkeypatch.setenv("TILEPROOF_VERBOSE", "1")
    with pytest.raises(KernelError) as caught:
        assembled(b"nothing of the kind", "sm_90", verbose=True if way == "argument" else None)
    (note,) = caught.value.diagnostics[0].notes
    assert note.startswith("output of the assembler:\n")
    assert "does not correspond to Tile IR bytecode" in note


# Programs in its place.


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "rejects the code of `work`"),
        (5, "cannot compile `work` for sm_90"),
        (2, "failed with exit code 2 on `work`"),
    ],
)
def test_an_exit_code_becomes_a_sentence(status: int, words: str, fake: Fake) -> None:
    fake(f"""
        print('loc("{FILE}":7:3): error: this and that', file=sys.stderr)
        sys.exit({status})
    """)
    diagnostic = refusal(Code.ASSEMBLER_FAILED, spans=span_of)
    assert words in diagnostic.message
    assert diagnostic.span is not None
    assert (diagnostic.span.line, diagnostic.span.column) == (7, 3)


@pytest.mark.parametrize(("name", "words"), [("SIGSEGV", "crashed (SIGSEGV)"), ("SIGKILL", "was killed")])
def test_a_crash_is_told_by_its_signal(name: str, words: str, fake: Fake) -> None:
    fake(f"os.kill(os.getpid(), signal.{name})")
    diagnostic = refusal(Code.ASSEMBLER_FAILED)
    assert words in diagnostic.message
    assert diagnostic.span is None


@pytest.mark.sweep(1)
@pytest.mark.parametrize("body", ["", "output.write_bytes(b'')", "output.write_bytes(b'not a cubin' * 100)"])
def test_success_without_machine_code_is_a_failure(body: str, fake: Fake) -> None:
    fake(body)
    diagnostic = refusal(Code.ASSEMBLER_FAILED)
    assert "made no machine code" in diagnostic.message
    assert "no cubin" in diagnostic.notes[0]


def test_noise_neither_blocks_nor_fills_the_message(fake: Fake) -> None:
    fake("""
        for _ in range(20000):
            sys.stderr.write("warning: " + 90 * "x" + "\\n")
            sys.stdout.write("\\xff" * 10)
        sys.exit(5)
    """)
    diagnostic = refusal(Code.ASSEMBLER_FAILED, verbose=True)
    assert len(diagnostic.notes[0].splitlines()) < 50
    assert "lines more" in diagnostic.notes[0]


def test_the_last_words_of_a_silent_program_are_heard(fake: Fake) -> None:
    fake("time.sleep(0.3); os.write(2, b'error: at last'); os._exit(5)")
    assert "error: at last" in refusal(Code.ASSEMBLER_FAILED, verbose=True).notes[0]


def test_a_program_that_closes_its_output_and_works_on_is_waited_for(fake: Fake) -> None:
    place = fake("""
        os.close(1), os.close(2)
        time.sleep(0.3)
        (folder / "finished").write_text("yes")
    """)
    refusal(Code.ASSEMBLER_FAILED)
    assert (place / "finished").is_file()


def test_a_hang_ends_with_all_that_was_started(fake: Fake) -> None:
    place = fake("""
        child = subprocess.Popen(["sleep", "60"])
        (folder / "pids").write_text(f"{os.getpid()} {child.pid}\\n")
        time.sleep(60)
    """)
    with pytest.raises(KernelError) as caught:
        assembled(SMALLEST, "sm_90", kernel="work", timeout=3)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.ASSEMBLER_TIMEOUT
    assert "within 3 seconds" in diagnostic.message
    assert f"{TIMEOUT}=12" in diagnostic.help
    assert all(map(gone, map(int, written(place / "pids").split())))


def test_what_a_crashed_assembler_started_is_ended(fake: Fake) -> None:
    place = fake("""
        child = subprocess.Popen(["sleep", "60"])
        (folder / "pids").write_text(f"{child.pid}\\n")
        os.kill(os.getpid(), signal.SIGSEGV)
    """)
    refusal(Code.ASSEMBLER_FAILED)
    assert gone(int(written(place / "pids")))


def test_the_time_limit_may_come_from_a_variable(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake("time.sleep(60)")
    monkeypatch.setenv(TIMEOUT, "0.5")
    assert "within 0.5 seconds" in refusal(Code.ASSEMBLER_TIMEOUT).message


@pytest.mark.parametrize("text", ["soon", "-1", "0", "nan"])
def test_a_time_limit_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TIMEOUT, text)
    with pytest.raises(LaunchError) as caught:
        assembled(SMALLEST, "sm_90")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, text in diagnostic.message) == (Code.BAD_SETTING, True)


def test_the_program_gets_a_private_folder_and_no_shell(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", "elsewhere")
    place = fake("""
        mode = oct(source.parent.stat().st_mode & 0o777)
        names = [os.environ.get(name) for name in ("CUDA_ROOT", "CUDA_HOME", "TMPDIR")]
        seen = [mode, source.read_bytes().hex(), os.environ["TMPDIR"] == str(source.parent), *names[:2]]
        seen += [os.getpgid(0) == os.getpid(), sys.stdin.read() == ""]
        (folder / "seen").write_text(repr(seen))
    """)
    refusal(Code.ASSEMBLER_FAILED)
    seen = eval((place / "seen").read_text())
    assert seen == ["0o700", SMALLEST.hex(), True, str(place), None, True, True]


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "missing"))
    diagnostic = refusal(Code.ASSEMBLER_FAILED, LaunchError)
    assert "No such file" in diagnostic.notes[0]
    assert "TMPDIR" in diagnostic.help


def test_real_temporary_files_of_a_stopped_assembler_are_gone() -> None:
    with pytest.raises(KernelError) as caught:
        assembled(product(F32, 128, 128), "sm_90", timeout=0.5)  # takes ten seconds
    assert caught.value.diagnostics[0].code is Code.ASSEMBLER_TIMEOUT


# Several at once.


@pytest.mark.slow
def test_six_modules_are_assembled_in_parallel() -> None:
    jobs = [Job(doubling(f"double_{number}"), arch) for number in range(3) for arch in ("sm_80", "sm_90")]
    results = dict(assemble_many(jobs, workers=3))
    assert set(results) == set(jobs)
    for job, done in results.items():
        assert isinstance(done, Assembled)
        assert done.cubin == assembled(job.bytecode, job.arch).cubin


def test_nothing_to_assemble_is_no_work() -> None:
    assert list(assemble_many([])) == []


def test_no_more_run_at_once_than_were_asked_for(fake: Fake) -> None:
    place = fake("""
        mine = folder / f"run-{os.getpid()}"
        mine.touch()
        time.sleep(0.1)
        with open(folder / "most", "a") as file:
            file.write(f"{len(list(folder.glob('run-*')))}\\n")
        mine.unlink()
        sys.exit(0)
    """)
    cubin = assemble_real(SMALLEST)
    (place / "cubin").write_bytes(cubin)
    tileiras = place / "bin" / "tileiras"
    text = tileiras.read_text()
    tileiras.write_text(text.replace("sys.exit(0)", "output.write_bytes((folder / 'cubin').read_bytes())"))
    assert len(list(assemble_many([Job(SMALLEST, "sm_90")] * 6, workers=2))) == 6
    assert max(map(int, (place / "most").read_text().split())) <= 2


def assemble_real(module: bytes) -> bytes:
    """What the real assembler makes, whatever stands in its place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(VARIABLE)
        return assembled(module, "sm_90").cubin


HANGS_OR_FAILS = """
    if source.read_bytes() == b"fail":
        for _ in range(1000):
            if len(list(folder.glob("pid-*"))) == 2:
                break
            time.sleep(0.01)
        sys.exit(5)
    child = subprocess.Popen(["sleep", "60"])
    (folder / f"pid-{os.getpid()}").write_text(f"{os.getpid()} {child.pid}\\n")
    time.sleep(60)
"""


def pids(place: Path) -> list[int]:
    return [int(pid) for file in place.glob("pid-*") for pid in written(file).split()]


def test_the_first_failure_stops_the_others(fake: Fake) -> None:
    place = fake(HANGS_OR_FAILS)
    jobs = [Job(b"hang", "sm_90"), Job(b"hang", "sm_90"), Job(b"fail", "sm_90", kernel="work"), Job(b"hang", "sm_90")]
    with pytest.raises(KernelError) as caught:
        list(assemble_many(jobs, workers=3))
    assert caught.value.diagnostics[0].kernel == "work"
    assert len(pids(place)) >= 4
    assert all(map(gone, pids(place)))
    assert no_threads()


def no_threads() -> bool:
    return not any(thread.name.startswith("tileproof-assembler") for thread in threading.enumerate())


def test_leaving_the_loop_stops_the_others(fake: Fake) -> None:
    place = fake("""
        if source.read_bytes() == b"hang":
            (folder / f"pid-{os.getpid()}").write_text(f"{os.getpid()}\\n")
            time.sleep(60)
        while not list(folder.glob("pid-*")):
            time.sleep(0.01)
        output.write_bytes((folder / "cubin").read_bytes())
    """)
    (place / "cubin").write_bytes(assemble_real(SMALLEST))
    running = assemble_many([Job(b"hang", "sm_90"), Job(SMALLEST, "sm_90")], workers=2)
    job, _ = next(running)
    assert job.bytecode == SMALLEST
    running.close()  # type: ignore[attr-defined]
    assert all(map(gone, pids(place)))
    assert no_threads()


INTERRUPTED = """
    import signal, sys, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background begins with it ignored
    from tileproof.backends.cuda.assembler.assemble import Job, assemble, assemble_each
    if "{way}" == "one":
        assemble(Job(b"hang", "sm_90"))
    elif "{way}" == "many":
        list(assemble_each([Job(b"hang", "sm_90")] * 5, workers=2))
    else:
        jobs = [Job(b"hang", "sm_90"), Job(b"quick", "sm_90"), Job(b"hang", "sm_90")]
        held = assemble_each(jobs, workers=2)  # lives until the process ends
        for _ in held:
            time.sleep(60)
"""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("way", ["one", "many", "between"])
def test_ctrl_c_kills_what_was_started(way: str, fake: Fake, folder: Path) -> None:
    place = fake("""
        if source.read_bytes() == b"quick":
            output.write_bytes((folder / "cubin").read_bytes())
            sys.exit()
        child = subprocess.Popen(["sleep", "60"])
        (folder / f"pid-{os.getpid()}").write_text(f"{os.getpid()} {child.pid}\\n")
        time.sleep(60)
    """)
    (place / "cubin").write_bytes(assemble_real(SMALLEST))
    text = dedent(INTERRUPTED).replace("{way}", way)
    environment = os.environ | {"TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    user = subprocess.Popen([sys.executable, "-c", text], env=environment, stderr=subprocess.PIPE, text=True)
    wanted = 1 if way == "one" else 2
    for _ in range(3000):
        if len(list(place.glob("pid-*"))) == wanted:
            break
        assert user.poll() is None, user.communicate()[1]
        time.sleep(0.01)
    started = pids(place)
    assert len(started) == 2 * wanted
    user.send_signal(signal.SIGINT)
    _, printed = user.communicate(timeout=60)
    assert "KeyboardInterrupt" in printed
    assert all(map(gone, started))


def test_a_real_toolchain_ignores_a_toolkit_that_is_set_but_not_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        monkeypatch.setenv(name, "nowhere")
    assert find().root.is_dir()
    assert assembled(SMALLEST, "sm_90").cubin
