"""Results, pages and pictures, from figures that are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.harness import device, page, result
from benchmarks.harness.page import RESULTS, Section
from benchmarks.harness.result import Figure, Goal, Line, Results
from benchmarks.kernels.command import GPU
from benchmarks.kernels.rows import rows

from benchmarks import __main__ as command

ROWS = rows()


def figure(name: str, microseconds: float, spread: float = 0.01, **more: Any) -> Figure:
    """Five rounds round a median."""
    rounds = (1.0, 1.0 - spread / 2, 1.0 + spread / 2, 1.0, 1.0)
    return Figure(name, tuple(round(microseconds * each * 1e-6, 12) for each in rounds), **more)


def line_of(name: str, microseconds: float, **peers: float) -> Line:
    """A GPU row with what it is said to take, and those peers that are given."""
    row = ROWS[name]
    results: dict[str, tuple[Figure, ...]] = {}
    for peer in row.peers:
        time = peers.get(peer.name.split()[0].replace(".", "_"))
        if time is not None and not peer.only:
            results[peer.column] = (*results.get(peer.column, ()), figure(peer.name, time))
    sticks = {yardstick: figure(yardstick, peers[yardstick]) for yardstick in row.yardsticks if yardstick in peers}
    return row.line(row.limit).but(
        tileproof=figure("tileproof", microseconds), peers=results, yardsticks=sticks, absent={"cuTile": "not carried"},
        how=(f"{name.split()[0]}_kernel BM=128",),
    )  # fmt: skip


@pytest.fixture
def lines() -> dict[str, Line]:
    results = [
        line_of("add", 735.5, torch=740.0, Triton=760.0).but(twin=figure("unsafe twin", 736.0), is_same_code=True),
        line_of("matmul 8192", 1481.0, cuBLAS=1281.0),
        line_of("matmul 2048", 24.0, cuBLAS=25.2, Triton=23.5),
        line_of("linear 4B qkv 16", 10.0, cuBLAS=12.0),
        line_of("softmax 4096", 36.0, torch=106.0, torch_compile=37.0, Triton=34.6, copy=33.0),
        line_of("decode 8 x 8192", 65.0, torch=90.0, read=54.0),
        line_of("matvec 4B qkv", 9.15, cuBLAS=9.45, Triton=8.95),
        line_of("rope", 1.0).but(tileproof=None, problem="WRONG: relative error 3.1e-01", how=()),
        line_of("chain 4B", 2300.0, cuBLAS=2500.0).but(
            forms=(figure("plain launches", 2400.0), figure("dependent launches", 2300.0))),
        line_of("launch", 4.2, torch=9.3),
    ]  # fmt: skip
    return {line.name: line for line in results}


def found(lines: dict[str, Line]) -> Results:
    return Results(tuple(lines.values()), ({"GPU": "NVIDIA H200, 132 multiprocessors", "date": "a day"},))


# Lines.


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("matvec 4B qkv", "met: 1.03 for >= 1.00 x cuBLAS"),
        ("matmul 8192", "MISSED: 0.86 for >= 0.90 x cuBLAS"),
        ("softmax 4096", "met: 1.03 for >= 1.00 x torch.compile; met: 0.92 for >= 90% of the copy rate"),
        ("decode 8 x 8192", "MISSED: 0.83 for >= 85% of the read rate"),
        ("chain 4B", "MISSED: 2.300 ms for <= 2.250 ms; met: 1.09 for >= 1.00 x cuBLAS"),
        ("launch", "met: 0.45 for <= 0.60 x torch"),
        ("rope", "WRONG: relative error 3.1e-01"),
    ],
)
def test_a_goal_is_judged_by_its_own_peer(lines: dict[str, Line], name: str, verdict: str) -> None:
    assert lines[name].verdict == verdict


def test_the_best_peer_need_not_be_that_of_the_goal(lines: dict[str, Line]) -> None:
    line = lines["matvec 4B qkv"]
    assert line.best is not None
    assert (line.best.name, line.ratio) == ("Triton", pytest.approx(8.95 / 9.15))
    assert line.but(goals=(Goal(1.033, "cuBLAS"),)).verdict.startswith("MISSED: 1.0328 for >= 1.03")
    assert line.but(peers={}).verdict == "not judged: >= 1.00 x cuBLAS"
    assert (lines["rope"].ratio, lines["rope"].of_limit, lines["rope"].missed) == (None, None, [])


def test_by_a_busy_machine_no_goal_is_judged(lines: dict[str, Line]) -> None:
    line = lines["add"].but(tileproof=figure("tileproof", 800.0, is_loaded=True))
    assert line.verdict == "not judged, loaded: >= 1.00 x torch"
    assert result.summary([line]) == ["no goal was judged", "add: not judged, loaded: >= 1.00 x torch"]


def test_the_limit_may_do_instead_of_a_peer() -> None:
    line = Line("a", "b", unit="tok/s", tokens=1, tileproof=figure("tileproof", 10), peers={"c": (figure("c", 11),)},
                yardsticks={"read": figure("read", 9.5)}, goals=(Goal(1.2, "c", or_limit=0.9),))  # fmt: skip
    assert line.verdict == "met: 1.10 for >= 1.20 x c or 90% of the limit"
    assert line.but(yardsticks={"read": figure("read", 5)}).missed


def test_rates_are_of_what_limits_a_row(lines: dict[str, Line]) -> None:
    assert (lines["add"].rate, lines["matmul 8192"].rate) == ("4.38 TB/s", "742 TFLOP/s")
    assert (lines["launch"].rate, lines["launch"].of_limit) == ("-", None)
    assert lines["add"].of_limit == pytest.approx(0.912, abs=1e-3)
    peak = Figure("tileproof", (3.3e8,))
    memory = Line("m", "memory", unit="B", limit=3e8, tileproof=peak, goals=(Goal(3.2e8, "at most"),))
    assert memory.verdict == "MISSED: 330 MB for <= 320 MB"


def test_the_best_call_counts_and_the_median_one_is_shown() -> None:
    one = Figure("tileproof", (1e-3,), typical=1.25e-3)
    assert one.spread == pytest.approx(0.25)
    assert Line("a", "b").text(one) == "1.000 ms (1.250 ms)"
    many = Figure("tileproof", (100.0, *map(float, range(1, 19)), 0.0))
    assert (many.value, many.span) == (9.5, (2.0, 17.0))


def test_differences_are_of_the_same_round() -> None:
    assert Figure("a", (5.0, 15.0)).minus(Figure("b", (4.5, 14.5))).rounds == (0.5, 0.5)


# Data.


def test_the_data_say_all_that_was_found(lines: dict[str, Line]) -> None:
    assert result.read(result.written(found(lines))) == found(lines)
    first = json.loads(result.written(found(lines)))["rows"][0]
    assert first["verdict"] == "met: 1.01 for >= 1.00 x torch"


def test_a_later_run_replaces_its_rows_and_leaves_the_others(lines: dict[str, Line]) -> None:
    anew = lines["add"].but(tileproof=figure("tileproof", 700.0))
    both = found(lines).joined(Results((anew,), ({"GPU": "NVIDIA H200", "date": "another"},)))
    assert [line.name for line in both.lines] == list(lines)
    assert [line.run for line in both.lines] == [1] + [0] * (len(lines) - 1)
    assert both.lines[0].tileproof == anew.tileproof
    assert "### The machine, run 2 of 2" in page.part(GPU, both, [])
    again = both.joined(found(lines))
    assert len(again.runs) == 1  # of the others nothing is left
    assert {line.run for line in again.lines} == {0}


@pytest.mark.parametrize("file", sorted(RESULTS.glob("*/*.json")), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_is_kept_in_the_repository_can_be_read(file: Path) -> None:
    results = result.kept(file)
    assert results.lines
    assert result.written(results) == file.read_text(encoding="utf-8")
    assert file.name in {section.file for section in command.pages_of()}


# Pages.


def test_a_page_has_tables_goals_and_what_was_launched(lines: dict[str, Line]) -> None:
    text = page.part(GPU, found(lines), [("Roofline", "roofline.png")], has_tried=True)
    for part in (
        "**8 of 11 goals met.**", "- matmul 8192: MISSED: 0.86 for >= 0.90 x cuBLAS", "### Softmax and norms",
        "| matmul 8192 | 8192^3 | 1.481 ms | cuBLAS 1.281 ms | 0.86 x cuBLAS | 742 TFLOP/s |",
        "| linear 4B qkv | 10.00 us, 1.20x |", "| add | 735.50 us | 736.00 us | 0.999, same code |",
        "- **chain 4B**: plain launches 2.400 ms, dependent launches 2.300 ms", "Not measured: cuTile: not carried.",
        "[What was tried](tried.md)", "| add | `add_kernel BM=128` |",
        f"Geometric mean of matmul and linear: {(1281 / 1481 * 25.2 / 24.0 * 12.0 / 10.0) ** (1 / 3):.3f} x cuBLAS",
    ):  # fmt: skip
        assert part in text
    assert text.index("### Softmax and norms") < text.index("![Roofline]") < text.index("### How it was measured")


def test_facts_and_threads_are_columns() -> None:
    line = Line("a", "b", threads=2, tileproof=figure("tileproof", 1), facts={"load": "1.0 ms"})
    heads, (cells,) = page.table([line, line.but(threads=None)])[0], page.table([line])[1]
    assert (heads[2], heads[-2]) == ("threads", "load")
    assert (cells[2], cells[-2], line.label) == ("2", "1.0 ms", "a, 2 threads")


def test_a_folder_becomes_a_page_with_pictures_that_the_documentation_lists(
    lines: dict[str, Line], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "h200"
    result.save(folder / GPU.file, found(lines))
    pages = page.write_pages([GPU], tmp_path)
    text = pages[0].read_text(encoding="utf-8")
    assert text.startswith("# NVIDIA H200\n")
    for name in ("roofline.png", "peers.png", "matmul.png"):
        assert f"]({name})" in text
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    begin = "<!-- machines: made by python -m benchmarks pages -->"
    index = f"# Benchmarks\n\n{begin}\nold\n<!-- end of machines -->\n\nRest.\n"
    listed = page.listed(index, pages)
    assert "[All figures of this machine](../benchmarks/results/h200/README.md)." in listed
    assert "![NVIDIA H200, Roofline](../benchmarks/results/h200/roofline.png)" in listed
    assert listed.endswith("<!-- end of machines -->\n\nRest.\n")
    assert page.listed(listed, []) == index.replace("old\n", "")
    own = page.INDEX.read_text(encoding="utf-8")
    assert page.listed(own, []).count("<!-- end of machines -->") == own.count("<!-- end of machines -->") == 1


def test_a_section_without_data_makes_no_page(tmp_path: Path) -> None:
    (tmp_path / "h200").mkdir()
    assert page.write_pages([Section("gpu.json", "Kernels", "How.")], tmp_path) == []


@pytest.mark.parametrize(
    ("name", "prefix", "slug"),
    [
        ("NVIDIA H200", "", "h200"),
        ("NVIDIA GeForce RTX 5090", "", "rtx-5090"),
        ("NVIDIA H100 80GB HBM3", "", "h100-80gb-hbm3"),
        ("Intel(R) Xeon(R) Processor @ 2.80GHz", "cpu", "cpu-xeon"),
        ("AMD EPYC 7B13 64-Core Processor", "cpu", "cpu-epyc-7b13"),
        ("", "cpu", "cpu"),
    ],
)
def test_a_device_has_a_short_folder(name: str, prefix: str, slug: str) -> None:
    assert device.slug_of(name, prefix) == slug


# The command.


def test_the_command_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--help"]) == 0
    output = capsys.readouterr().out
    for word in ("gpu", "cpu", "host", "compile", "--rows", "--quick", "--list", "--save", "--check"):
        assert word in output
    assert command.main(["gpu", "--list", "--rows", "chain"]) == 0
    assert capsys.readouterr().out.split("\n")[:2] == ["chain 4B", "chain 32B"]
    with pytest.raises(SystemExit, match="is for one section: gpu, cpu, host, compile"):
        command.main(["--rows", "add"])


def test_all_sections_that_can_run_are_run_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[str, list[str]]] = []

    def section(name: str) -> Any:
        return lambda options: called.append((name, list(options))) or 0

    monkeypatch.setattr(command, "section", section)
    monkeypatch.setattr(command, "has_gpu", lambda: True)
    assert command.main(["--quick", "--save", str(tmp_path)]) == 0
    more = ["--save", str(tmp_path), "--quick"]
    assert called == [("gpu", more), ("host", ["--device", "cuda", *more])]
