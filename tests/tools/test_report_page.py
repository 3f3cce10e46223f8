"""The page of a report: one file, well-formed, harmless, whole; and a real browser has nothing to complain about."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from types import FunctionType

import pytest
from report_samples import Page, make
from tools.report import gathering
from tools.report.facts import Audited, Family, KernelFacts, Library, Proof, Report, Settled
from tools.report.page import page

import tileproof.kernels as tk
from support.cli_samples import Ran
from tileproof.language.kernel import Kernel

Run = Callable[..., Ran]
Write = Callable[[str, str], str]
_numbers = count()


@pytest.fixture
def text(run_report: Run, write: Write) -> str:
    """The page of a package with kernels of every kind."""
    return run_report(make(write, f"pages{next(_numbers)}"), "--format", "html").out


@cache
def library_page() -> tuple[Report, str]:
    """The page of the kernel library, with verdicts that nobody proved: what is proved, other tests look at."""
    kept = gathering.proofs_of
    gathering.proofs_of = lambda kernels, root, **_: [Proof(True, "for all constants") for _ in kernels]
    try:
        result = gathering.report_on(["tileproof.kernels"], gathering.Sources())
    finally:
        gathering.proofs_of = kept
    return result, page(result)


# The file.


def test_it_is_well_formed_and_loads_nothing(text: str) -> None:
    page = Page(text)
    assert page.outside == []
    assert not re.search(r"https?:|//cdn|@import|url\(", text)
    assert "default-src 'none'" in text


def test_every_link_leads_somewhere_and_every_control_has_a_label(text: str) -> None:
    page = Page(text)
    assert set(page.links) <= set(page.ids)
    assert {"filter", "state"} <= page.labelled


def test_it_says_what_is_wrong_with_each_kernel(text: str) -> None:
    words = Page(text).words
    assert "1 of 4 kernels is proved, 1 keeps checks for run time, 1 is unsafe, 1 is refused." in words
    for message in (
        "order is a permutation: the host sorted it", "tp.raw.load(x, order[n]) is taken on trust",
        "0 <= rows[n] < V", "nothing says what rows holds", "axis 0 of `x` is M, and `j` walks N",
        'ids holds Index["V"] , which settles x[ids[n], d]', "1.25 x Triton", "Not looked at", "made inside a function",
    ):  # fmt: skip
        assert message in words


def test_what_a_kernel_says_is_text_and_no_markup() -> None:
    nasty = '<script>alert(1)</script> & "so" <b>on</b>'
    settled = Settled("a.py", 3, 1, nasty, nasty, 5, nasty, nasty)
    kernel = KernelFacts(
        nasty, nasty, "a.py", 1, nasty, (nasty, "x = 1", "y = '<i>'"), Proof(True, nasty, nasty, (settled,), (nasty,))
    )
    library = Library(nasty, nasty, (Family(nasty, nasty, (), (kernel,)),), Audited((nasty,), 1, ()), (nasty,))
    result = page(Report((library,), {nasty: nasty}, nasty))
    Page(result)
    assert result.count("<script>") == 1
    assert "<b>on</b>" not in result


def test_a_library_without_kernels_has_a_page_too() -> None:
    empty = Library("none", "", (), Audited(("none",), 0, ()))
    assert "No kernels were found." in Page(page(Report((empty,), {}, "2026-11-15"))).words


def test_accesses_are_marked_in_the_source(text: str) -> None:
    assert re.search(r'<span class="access r5"><b>\d+</b><u><i class="r1">1</i><i class="r5">5</i></u>', text)


# The library.


@pytest.mark.slow
def test_every_kernel_and_function_of_the_library_is_on_its_page() -> None:
    report, text = library_page()
    result = Page(text)
    words = result.words
    assert result.outside == []
    assert set(result.links) <= set(result.ids)
    listed = {each.name for each in report.libraries[0].kernels}
    for name in (name for names in tk.FAMILIES.values() for name in names.split()):
        assert isinstance(getattr(tk, name), FunctionType)
        assert f" {name} " in words
    for kernel in every_kernel():
        assert kernel.name in listed
        assert f"tileproof-kernels--{kernel.name}" in result.ids


def every_kernel() -> list[Kernel]:
    """All kernels that the families of the library list."""
    from importlib import import_module

    modules = [import_module(f"tileproof.kernels.{family}") for family in tk.FAMILIES]
    return [each for module in modules for each in vars(module).values() if isinstance(each, Kernel)]


@pytest.mark.slow
def test_all_of_the_library_can_be_looked_at() -> None:
    report, _ = library_page()
    assert report.libraries[0].problems == ()


@pytest.mark.slow
def test_gradients_of_the_library_are_named() -> None:
    report, _ = library_page()
    gradients = {function.name: function.gradient for function in report.libraries[0].functions if function.gradient}
    assert gradients["rms_norm"] == "rms_norm_backward"
    assert gradients["attention"] == "attention_backward"


# In a browser.

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
    "--v=0", "--virtual-time-budget=3000",
)  # fmt: skip
TRIED = """
<script>
addEventListener("load", () => {
  const seen = {};
  const shown = () => [...document.querySelectorAll("table.kernels tbody tr")].filter((each) => !each.hidden);
  const named = () => shown().map((each) => each.cells[0].textContent);
  seen.before = named();
  const heads = document.querySelectorAll("table.kernels thead button");
  heads[0].click(); seen.up = named();
  heads[0].click(); seen.down = named();
  heads[2].click(); seen.verdicts = shown().map((each) => each.dataset.state);
  const filter = document.getElementById("filter");
  filter.value = "pick"; filter.dispatchEvent(new Event("input")); seen.filtered = named();
  seen.counted = document.getElementById("count").textContent;
  filter.value = ""; filter.dispatchEvent(new Event("input"));
  const state = document.getElementById("state");
  state.value = "unsafe"; state.dispatchEvent(new Event("change")); seen.unsafe = named();
  document.getElementById("unfold").click();
  seen.open = document.querySelectorAll("details.kernel[open]").length;
  document.getElementById("unfold").click();
  document.querySelector('table.kernels a[href$="turn_kernel"]').click();
  setTimeout(() => {
    seen.linked = [...document.querySelectorAll("details.kernel[open]")].map((each) => each.id.split("--")[1]);
    seen.unfiltered = named().length;
    dispatchEvent(new Event("beforeprint"));
    seen.printed = document.querySelectorAll("details:not([open])").length;
    dispatchEvent(new Event("afterprint"));
    seen.narrow = document.documentElement.scrollWidth <= innerWidth;
    document.title = JSON.stringify(seen);
  }, 200);
});
</script>
"""


def browsed(file: Path, tmp_path: Path, *options: str) -> tuple[str, list[str]]:
    """The page after its scripts have run, and what the browser complained about."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *OPTIONS, *options, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri()]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return ran.stdout, [line for line in ran.stderr.splitlines() if "CONSOLE" in line]


@in_a_browser
def test_a_browser_sorts_filters_and_unfolds_without_complaint(text: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(text.replace("</body>", f"{TRIED}</body>"), encoding="utf-8")
    dom, complaints = browsed(file, tmp_path, "--window-size=390,800")
    assert complaints == []
    title = re.search(r"<title>(.*?)</title>", dom)
    assert title is not None
    seen = json.loads(title[1].replace("&quot;", '"').replace("&amp;", "&"))
    names = ["permute_kernel", "pick_kernel", "take_kernel", "turn_kernel"]
    assert sorted(seen["before"]) == seen["up"] == names
    assert seen["down"] == names[::-1]
    assert seen["verdicts"] == ["refused", "unsafe", "checked", "proved"]
    assert (seen["filtered"], seen["counted"]) == (["pick_kernel"], "1 of 4")
    assert (seen["unsafe"], seen["open"]) == (["permute_kernel"], 4)
    assert (seen["linked"], seen["unfiltered"]) == (["turn_kernel"], 4)
    assert seen["printed"] == 0
    assert seen["narrow"], "the page is wider than a narrow screen"


@pytest.mark.slow
@in_a_browser
def test_the_page_of_the_library_opens_without_complaint(tmp_path: Path) -> None:
    file = tmp_path / "library.html"
    file.write_text(library_page()[1], encoding="utf-8")
    dom, complaints = browsed(file, tmp_path)
    assert complaints == []
    assert "kernels</output>" in dom
