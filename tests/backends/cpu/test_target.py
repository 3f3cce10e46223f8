"""Processors: what is known of them, which one is chosen, and which are rejected."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.cpu_assembly import assembly
from tileproof.backends.cpu import llvm, target
from tileproof.backends.cpu.target import VARIABLE, Caches, Target, host, named, names
from tileproof.diagnostics import Code
from tileproof.diagnostics.errors import LaunchError

DOUBLING = """
define void @double(ptr %x) {{
  %a = load <{lanes} x float>, ptr %x, align 4
  %b = fadd <{lanes} x float> %a, %a
  store <{lanes} x float> %b, ptr %x, align 4
  ret void
}}
"""
ADDITIONS = ("addps", "vaddps", "fadd")


def refusal(monkeypatch: pytest.MonkeyPatch, name: str) -> str:
    monkeypatch.setenv(VARIABLE, name)
    with pytest.raises(LaunchError) as caught:
        host()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is Code.BAD_SETTING
    return f"{diagnostic.message}; {diagnostic.help}"


@pytest.fixture
def old_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this were a Haswell."""
    haswell = named("avx2")
    machine = Target("haswell", haswell.features, "x86_64-unknown-linux-gnu", caches=Caches(1, 2, 3))
    monkeypatch.setattr(target, "this_machine", lambda: machine)
    monkeypatch.setattr(target, "_host", target._host.__wrapped__)


@pytest.mark.parametrize(
    ("name", "lanes", "registers"), [("sse2", 4, 16), ("avx2", 8, 16), ("avx512", 16, 32), ("neon", 4, 32)]
)
def test_a_level_has_its_vectors_and_code_that_uses_them(name: str, lanes: int, registers: int) -> None:
    level = named(name)
    assert (level.lanes, level.registers) == (lanes, registers)
    text = DOUBLING.format(lanes=lanes).replace(") {", f") {level.attributes} {{")
    (adding,) = [line for line in assembly(text, level).splitlines() if line.strip().startswith(ADDITIONS)]
    assert {"sse2": "xmm", "avx2": "ymm", "avx512": "zmm", "neon": ".4s"}[name] in adding


@pytest.mark.parametrize("name", names())
def test_code_can_be_made_for_every_processor(name: str) -> None:
    there = named(name)
    text = DOUBLING.format(lanes=there.lanes).replace(") {", f") {there.attributes} {{")
    assert len(llvm.compile_object(text, there)) > 100


def test_this_machine_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    own = host()
    monkeypatch.setenv(VARIABLE, "host")
    assert host() == own
    assert (own.name, own.triple) == (llvm.host_cpu(), llvm.host_triple())


def test_a_smaller_processor_may_be_asked_for(monkeypatch: pytest.MonkeyPatch, old_machine: None) -> None:
    monkeypatch.setenv(VARIABLE, "sse2")
    assert (host().lanes, host().has_fma, host().caches) == (4, False, Caches(1, 2, 3))


def test_a_processor_by_name_has_its_timings(monkeypatch: pytest.MonkeyPatch, old_machine: None) -> None:
    monkeypatch.setenv(VARIABLE, "znver3")
    assert (host().lanes, host().tuned_for) == (8, "znver3")
    assert '"tune-cpu"="znver3"' in host().attributes


def test_a_processor_that_this_machine_is_not_is_refused(monkeypatch: pytest.MonkeyPatch, old_machine: None) -> None:
    assert refusal(monkeypatch, "skylake-avx512") == (
        "TILEPROOF_CPU_TARGET is 'skylake-avx512', but this machine (haswell) lacks avx512bw, avx512cd, avx512dq, "
        "avx512f, avx512vl; unset TILEPROOF_CPU_TARGET, or choose what this machine can be: sse2, baseline, avx2"
    )
    assert refusal(monkeypatch, "neon").startswith(
        "TILEPROOF_CPU_TARGET is 'neon', but this machine (haswell) lacks its instructions; "
    )


def test_an_unknown_name_is_refused_with_a_known_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(monkeypatch, "avx-512").endswith("not the name of a processor; did you mean 'avx512'?")
    assert refusal(monkeypatch, "?").endswith(
        "it may be host, sse2, baseline, avx2, avx512, neon, or one such as znver3"
    )


def test_instructions_follow_from_the_processor() -> None:
    assert named("cascadelake").has_vnni
    assert named("alderlake").has_vnni
    assert named("haswell").has_f16c
    assert not named("sse2").has_f16c
    assert named("neoverse-n1").has_dot
    assert not named("neon").has_dot


def test_avx512_without_small_elements_is_not_used() -> None:
    first = Target("knl", f"{named('avx2').features},+avx512f,+avx512cd", "x86_64-unknown-linux-gnu")
    assert (first.lanes, first.registers) == (8, 16)


def test_caches_are_read_where_linux_describes_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sheets = [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "1280K"), ("3", "Unified", "48M")]
    for number, (level, kind, size) in enumerate(sheets):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{text}\n")
    monkeypatch.setattr(target, "_SHEETS", tmp_path)
    assert target._caches() == Caches(48 << 10, 1280 << 10, 48 << 20)


def test_caches_that_nobody_describes_are_usual_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(target, "_SHEETS", tmp_path / "none")
    monkeypatch.setattr(target, "_system", lambda name: 0)
    assert target._caches() == Caches()
