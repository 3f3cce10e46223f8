"""The book: a folder of results for each machine, and the page and the pictures that are made of what is in it.

benchmarks/results/h200/gpu.json          kernels on the GPU
benchmarks/results/h200/host_cuda.json    what the host costs
benchmarks/results/h200/tried.md          what people write, of rows that miss their goal for instance
benchmarks/results/h200/README.md         the page, made anew from all of these: nobody writes there
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

RESULTS: Final = Path(__file__).resolve().parent / "results"
PAGE: Final = "README.md"
INDEX: Final = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
_BEGIN: Final = "<!-- machines: made by python -m benchmarks pages -->"
_END: Final = "<!-- end of machines -->"
TRIED: Final = "tried.md"
_NOISE: Final = ("nvidia", "geforce", "intel", "amd", "r", "tm", "cpu", "processor", "with", "core")


def slug_of(name: str, prefix: str = "") -> str:
    """A device as the name of a folder: "NVIDIA H200" is `h200`; a processor gets a prefix."""
    plain = re.sub(r"\b\d+-core\b|\b[\d.]+ghz\b", " ", name.lower())
    words = [word.replace(".", "-").strip("-") for word in re.findall(r"[a-z0-9.]+", plain) if word not in _NOISE]
    return "-".join(filter(None, (prefix, *words))) or "unknown"


def cpu_slug() -> str:
    """The folder of this machine's processor."""
    from .cpu_report import processor

    return slug_of(processor(), "cpu")


# What people wrote.


def tried(folder: Path) -> dict[str, str]:
    """Chapters of what people wrote: the text under each heading `# gpu`, `# cpu`, `# host_cpu`, ..."""
    file = folder / TRIED
    if not file.exists():
        return {}
    chapters = re.split(r"^# +(\S+)[ \t]*\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(chapters[1::2], chapters[2::2], strict=True)}


def bullets(text: str) -> dict[str, str]:
    """What a chapter says of rows: `- **matmul 2048, matmul 4096**: words`, by name."""
    found: dict[str, str] = {}
    for each in re.split(r"^- ", text, flags=re.MULTILINE)[1:]:
        named = re.match(r"\*\*(.+?)\*\*:\s*(.*)", " ".join(each.split()))
        if named:
            found.update({name.strip(): named[2] for name in named[1].split(",")})
    return found


# Pages.


def parts(folder: Path) -> Iterator[tuple[str, str]]:
    """The machine a chapter is about, and the chapter, for everything that is in the folder."""
    wrote = tried(folder)
    # A machine that has a GPU may lack what only the other chapters need.
    for part, data in ((_gpu, "gpu.json"), (_cpu, "cpu.json"), (_host, "host_*.json"), (_compile, "compile.json")):
        if any(folder.glob(data)):
            yield from part(folder, wrote)


def _gpu(folder: Path, wrote: dict[str, str]) -> Iterator[tuple[str, str]]:
    from . import gpu_page, gpu_picture, gpu_report

    found = gpu_report.kept(folder)
    if found.lines:
        pictures = drawn_or_kept(folder, gpu_picture.PICTURES, lambda: gpu_picture.draw(folder, found.lines))
        name = found.runs[0].get("GPU", folder.name).partition(",")[0]
        yield name, gpu_page.part(found, bullets(wrote.get("gpu", "")), pictures)


def _cpu(folder: Path, wrote: dict[str, str]) -> Iterator[tuple[str, str]]:
    from . import cpu_page, cpu_picture, cpu_report

    found = cpu_report.kept(folder)
    if found is not None:
        pictures = drawn_or_kept(folder, cpu_picture.PICTURES, lambda: cpu_picture.draw(folder, found.lines))
        yield found.machine.get("processor", folder.name), cpu_page.part(found, wrote.get("cpu", ""), pictures)


def _host(folder: Path, wrote: dict[str, str]) -> Iterator[tuple[str, str]]:
    from . import host_report

    for file in sorted(folder.glob("host_*.json")):
        found, picture = host_report.read(file.read_text(encoding="utf-8")), f"{file.stem}.png"
        names = (("Microseconds per operation", picture),)

        def draw(found: host_report.Found = found, picture: str = picture) -> list[tuple[str, str]]:
            from . import host_picture  # it draws, and so needs what draws

            host_picture.draw(folder / picture, found)
            return [("Microseconds per operation", picture)]

        pictures = drawn_or_kept(folder, names, draw)
        machine = found.machine.get("GPU", found.machine.get("processor", folder.name)).partition(",")[0]
        yield machine, host_report.part(found, wrote.get(file.stem, ""), pictures)


def _compile(folder: Path, wrote: dict[str, str]) -> Iterator[tuple[str, str]]:
    from . import compiling_gpu

    found = compiling_gpu.kept(folder)
    if found is not None:
        yield found.processor, compiling_gpu.part(found, wrote.get("compile", ""))


def drawn_or_kept(
    folder: Path, named: tuple[tuple[str, str], ...], draw: Callable[[], list[tuple[str, str]]]
) -> list[tuple[str, str]]:
    """Pictures by title and file name: drawn anew, or those that are there where nothing can be drawn."""
    from .pictures import can_draw

    return draw() if can_draw() else [(title, file) for title, file in named if (folder / file).exists()]


def write_page(folder: Path) -> Path | None:
    """Makes the page of a machine anew; None if there is nothing to tell."""
    found = list(parts(folder))
    if not found:
        return None
    page = folder / PAGE
    begun = [f"# {found[0][0]}", "", "Made by `python -m benchmarks` from the data beside it.", ""]
    page.write_text("\n".join(begun) + "\n" + "\n".join(text for _, text in found), encoding="utf-8")
    return page


def write_pages(results: Path = RESULTS, index: Path = INDEX) -> list[Path]:
    """Makes the pages of all machines anew, and the list of them in the documentation if the results are its own."""
    made = (write_page(folder) for folder in sorted(results.iterdir()) if folder.is_dir())
    pages = [page for page in made if page is not None]
    if results.resolve() == RESULTS:
        index.write_text(listed(index.read_text(encoding="utf-8"), pages), encoding="utf-8")
    return pages


def listed(text: str, pages: Sequence[Path]) -> str:
    """A page of the documentation with a section for each machine: its name, a link and its pictures."""
    told: list[str] = [_BEGIN]
    for page in pages:
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        there = f"../benchmarks/results/{page.parent.name}"
        shown = [f"![{title}, {name}]({there}/{file})" for name, file in _pictures(page)]
        told += ["", f"## {title}", "", f"[All figures of this machine]({there}/{PAGE}).",
                 *(line for each in shown for line in ("", each))]  # fmt: skip
    before, _, rest = text.partition(_BEGIN)
    return before + "\n".join([*told, *([""] if pages else []), _END]) + rest.partition(_END)[2]


def _pictures(page: Path) -> list[tuple[str, str]]:
    """The pictures of a page, by title and file name."""
    return re.findall(r"^!\[(.+?)\]\((.+?\.png)\)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
