"""Pages and pictures of the book, from figures that are made up."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.gpu_report import Figure, Found, Line, Twin  # noqa: E402
from benchmarks.gpu_row import Goal, Row  # noqa: E402

from benchmarks import __main__ as command  # noqa: E402
from benchmarks import book, gpu_page, gpu_report, gpu_rows  # noqa: E402


def figure(name: str, microseconds: float, spread: float = 0.01) -> Figure:
    """Five rounds round a median."""
    rounds = (1.0, 1.0 - spread / 2, 1.0 + spread / 2, 1.0, 1.0)
    return Figure(name, tuple(round(microseconds * each * 1e-6, 12) for each in rounds))


def line_of(row: Row, microseconds: float, **peers: float) -> Line:
    """What a row is said to take, and those peers that are told."""
    named: dict[str, tuple[Figure, ...]] = {}
    for peer in row.peers:
        time = peers.get(peer.name.split()[0].replace(".", "_"))
        if time is not None:
            named[peer.column] = (*named.get(peer.column, ()), figure(peer.name, time))
    sticks = {name: figure(name, peers[name]) for name in row.yardsticks if name in peers}
    return Line(
        row.name, row.group, row.size, row.operations, row.bytes, row.limit, figure("tileproof", microseconds),
        peers=named, yardsticks=sticks, absent={"cuTile": "not carried"}, goals=row.goals,
        how=(f"{row.name.split()[0]}_kernel BM=128",),
    )  # fmt: skip


ROWS = gpu_rows.rows()


@pytest.fixture
def lines() -> dict[str, Line]:
    made = [
        line_of(ROWS["add"], 735.5, torch=740.0, Triton=760.0).but(
            twin=Twin(figure("unsafe twin", 736.0), is_same=True)
        ),
        line_of(ROWS["matmul 8192"], 1481.0, cuBLAS=1281.0),
        line_of(ROWS["matmul 2048"], 24.0, cuBLAS=25.2, Triton=23.5),
        line_of(ROWS["linear 4B qkv 16"], 10.0, cuBLAS=12.0),
        line_of(ROWS["softmax 4096"], 36.0, torch=106.0, torch_compile=37.0, Triton=34.6, copy=33.0),
        line_of(ROWS["decode 8 x 8192"], 65.0, torch=90.0, read=54.0),
        line_of(ROWS["matvec 4B qkv"], 9.15, cuBLAS=9.45, Triton=8.95),
        replace(line_of(ROWS["rope"], 1.0), tileproof=None, problem="WRONG: relative error 3.1e-01", how=()),
        Line("chain 4B", "chain", "36 layers", 1e10, 8e9, 8e9 / 4.8e12, figure("tileproof", 2300.0),
             (figure("plain launches", 2400.0), figure("dependent launches", 2300.0)),
             {"torch": (figure("cuBLAS", 2500.0),)}, goals=(Goal(2.25e-3, "seconds"), Goal(1.0, "cuBLAS"))),
        Line("launch", "launch", "host", 1.0, 1.0, None, figure("tileproof", 4.2),
             peers={"torch": (figure("torch launch", 9.3),)}, goals=(Goal(0.6, "torch launch"),)),
    ]  # fmt: skip
    return {line.name: line for line in made}


def found(lines: dict[str, Line]) -> Found:
    return Found(tuple(lines.values()), ({"GPU": "NVIDIA H200, 132 multiprocessors", "date": "a day"},))


# What a line says.


def test_the_best_peer_is_named_and_the_goal_is_judged_by_its_own(lines: dict[str, Line]) -> None:
    line = lines["matvec 4B qkv"]
    assert line.best is not None
    assert line.best.name == "Triton"
    assert line.ratio == pytest.approx(8.95 / 9.15)
    assert line.verdict == "met: 1.03 for >= 1.00 x cuBLAS"


def test_a_missed_goal_is_said(lines: dict[str, Line]) -> None:
    assert lines["matmul 8192"].verdict == "MISSED: 0.86 for >= 0.90 x cuBLAS"
    assert "MISSED: matmul 8192: 0.86 for >= 0.90 x cuBLAS" in gpu_report.summary(list(lines.values()))


def test_some_goals_are_a_part_of_what_the_same_bytes_take(lines: dict[str, Line]) -> None:
    fast, full = lines["softmax 4096"].verdict.split("; ")
    assert fast == "met: 1.03 for >= 1.00 x torch.compile"
    assert full == "met: 0.92 for >= 90% of the copy rate"
    assert lines["decode 8 x 8192"].verdict == "MISSED: 0.83 for >= 85% of the read rate"


def test_some_goals_are_a_time(lines: dict[str, Line]) -> None:
    assert lines["chain 4B"].verdict == "MISSED: 2.300 ms for <= 2.25 ms; met: 1.09 for >= 1.00 x cuBLAS"


def test_of_launches_less_is_better(lines: dict[str, Line]) -> None:
    assert lines["launch"].verdict == "met: 0.45 for <= 0.60 x torch launch"
    assert (lines["launch"].rate, lines["launch"].of_limit) == ("-", None)


def test_close_to_a_goal_enough_digits_are_shown(lines: dict[str, Line]) -> None:
    line = lines["matvec 4B qkv"].but(goals=(Goal(1.033, "cuBLAS"),))
    assert line.verdict.startswith("MISSED: 1.0328 for >= 1.03")


def test_a_wrong_result_is_not_judged(lines: dict[str, Line]) -> None:
    line = lines["rope"]
    assert line.verdict == "WRONG: relative error 3.1e-01"
    assert (line.ratio, line.of_limit, line.missed) == (None, None, [])
    assert "rope: WRONG: relative error 3.1e-01" in gpu_report.summary([line])


def test_without_its_peer_a_goal_is_not_judged() -> None:
    assert line_of(ROWS["softmax 4096"], 36.0).verdict.startswith("not judged: >= 1.00 x torch.compile")


def test_rates_are_of_what_limits_a_row(lines: dict[str, Line]) -> None:
    assert lines["add"].rate == "4.38 TB/s"
    assert lines["matmul 8192"].rate == "742 TFLOP/s"
    assert lines["add"].of_limit == pytest.approx(0.912, abs=1e-3)


def test_the_mean_of_the_table_is_geometric(lines: dict[str, Line]) -> None:
    expected = (1281 / 1481 * 25.2 / 24.0 * 12.0 / 10.0) ** (1 / 3)
    assert gpu_report.geometric_mean(list(lines.values())) == pytest.approx(expected)
    assert f"geometric mean {expected:.3f} x cuBLAS over 3 products" in gpu_report.summary(list(lines.values()))


# Data.


def test_the_data_say_all_that_was_found(lines: dict[str, Line]) -> None:
    assert gpu_report.read(gpu_report.written(found(lines))) == found(lines)
    first = json.loads(gpu_report.written(found(lines)))["rows"][0]
    assert first["verdict"] == "met: 1.01 for >= 1.00 x torch"


def test_a_later_run_replaces_its_rows_and_leaves_the_others(lines: dict[str, Line]) -> None:
    anew = lines["add"].but(tileproof=figure("tileproof", 700.0))
    both = found(lines).joined(Found((anew,), ({"GPU": "NVIDIA H200", "date": "another"},)))
    assert [line.name for line in both.lines] == list(lines)
    assert [line.run for line in both.lines] == [1] + [0] * (len(lines) - 1)
    assert both.lines[0].tileproof == anew.tileproof
    again = both.joined(found(lines))
    assert len(again.runs) == 1  # of the others nothing is left
    assert {line.run for line in again.lines} == {0}


# Pages.


def test_a_page_tells_tables_goals_and_what_was_tried(lines: dict[str, Line]) -> None:
    page = gpu_page.part(found(lines), {"matmul": "Nothing helps.", "matmul 8192": "The clocks fall."}, [])
    assert "### Softmax and norms" in page
    assert "| matmul 8192 | 8192^3 | 1.481 ms | cuBLAS 1.281 ms | 0.86 x cuBLAS | 742 TFLOP/s |" in page
    assert "- **matmul 8192**: The clocks fall." in page
    assert "nothing was written yet of: decode 8 x 8192, rope, chain 4B" in page
    assert "| 4B qkv | 6144 x 2560 | 1.20 | - |" in page
    assert "| add | 735.50 us | 736.00 us | 0.999, same code |" in page
    assert "- **chain 4B**: plain launches 2.400 ms, dependent launches 2.300 ms" in page
    assert "Not there: cuTile: not carried." in page


def test_rows_of_several_runs_say_so(lines: dict[str, Line]) -> None:
    both = found(lines).joined(Found((lines["add"],), ({"GPU": "NVIDIA H200", "date": "another"},)))
    page = gpu_page.part(both, {}, [])
    assert "### The machine, run 1 of 2" in page
    assert "### The machine, run 2 of 2" in page


def test_what_people_wrote_is_read_by_chapter_and_row(tmp_path: Path) -> None:
    (tmp_path / book.TRIED).write_text(
        "# gpu\n\n- **matmul 2048, rope**: Many tiles,\n  in vain.\n- **decode**: Splits.\n\n# host_cpu\n\nNothing.\n",
        encoding="utf-8",
    )
    wrote = book.tried(tmp_path)
    assert wrote["host_cpu"] == "Nothing."
    assert book.bullets(wrote["gpu"]) == {
        "matmul 2048": "Many tiles, in vain.", "rope": "Many tiles, in vain.", "decode": "Splits.",
    }  # fmt: skip


def test_a_folder_becomes_a_page_with_pictures(lines: dict[str, Line], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "h200"
    gpu_report.save(folder, found(lines))
    (page,) = book.write_pages(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# NVIDIA H200\n")
    for name in ("roofline.png", "peers.png", "matmul.png"):
        assert f"]({name})" in text
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_documentation_lists_machines_and_pictures(lines: dict[str, Line], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    gpu_report.save(tmp_path / "h200", found(lines))
    begin = "<!-- machines: made by python -m benchmarks pages -->"
    text = f"# Benchmarks\n\n{begin}\nold\n<!-- end of machines -->\n\nRest.\n"
    listed = book.listed(text, book.write_pages(tmp_path))
    assert "old" not in listed
    assert "[All figures of this machine](../benchmarks/results/h200/README.md)." in listed
    assert "![NVIDIA H200, Roofline](../benchmarks/results/h200/roofline.png)" in listed
    assert listed.endswith("<!-- end of machines -->\n\nRest.\n")
    assert book.listed(listed, []) == text.replace("old\n", "")


def test_the_page_of_the_documentation_has_a_place_for_them() -> None:
    text = book.INDEX.read_text(encoding="utf-8")
    assert book.listed(text, []).count("<!-- end of machines -->") == text.count("<!-- end of machines -->") == 1


# Folders.


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
    assert book.slug_of(name, prefix) == slug


# The command.


def test_the_command_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--help"]) == 0
    told = capsys.readouterr().out
    for word in ("gpu", "cpu", "host", "compile", "--rows", "--quick", "--list", "--save", "--check"):
        assert word in told


def test_rows_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["gpu", "--list", "--rows", "chain"]) == 0
    assert capsys.readouterr().out.split("\n")[:2] == ["chain 4B", "chain 32B"]


def test_options_of_a_section_need_a_section() -> None:
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
