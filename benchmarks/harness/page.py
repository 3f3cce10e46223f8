"""The writer of pages: every section of every device, from its data. What is not in the data stands in a `Section`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Final, Literal, TypeAlias

from . import picture
from .device import device_of
from .result import Line, Results, geometric_mean, kept, summary
from .text import columns, markdown

RESULTS: Final = Path(__file__).resolve().parents[1] / "results"
INDEX: Final = RESULTS.parents[1] / "docs" / "benchmarks.md"
TRIED: Final = "tried.md"
_BEGIN: Final = "<!-- machines: made by python -m benchmarks pages -->"
_END: Final = "<!-- end of machines -->"
HEADS: Final = ("row", "size", "tileproof", "peers", "against the best", "rate", "of the limit", "spread")
Kind: TypeAlias = Literal["ratios", "roofline", "curves"]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a device's results: its file, and the prose around its tables."""

    file: str
    title: str
    about: str
    groups: Mapping[str, str] = field(default_factory=dict)
    """Titles of groups of lines, in order; groups of other names follow under theirs."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """A sentence for the table of a group."""
    grids: Sequence[str] = ()
    """Groups whose names end in a number, which are shown by it as well."""
    means: Mapping[str, str] = field(default_factory=dict)
    """Groups of which the geometric mean against a peer is to be 1."""
    pictures: Sequence[tuple[str, str, Kind, Sequence[str]]] = ()
    """Title, file, kind, and groups."""
    page: str = "README.md"

    def ordered(self, lines: Sequence[Line]) -> dict[str, list[Line]]:
        """Lines by title."""
        results: dict[str, list[Line]] = {}
        for group in dict.fromkeys((*self.groups, *(line.group for line in lines))):
            of = [line for line in lines if line.group == group]
            if of:
                results.setdefault(self.groups.get(group, group), []).extend(of)
        return results


def table(lines: Sequence[Line]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and cells: figures, what they are compared with, facts, and goals."""
    facts = tuple(dict.fromkeys(name for line in lines for name in line.facts))
    threads = ("threads",) if any(line.threads is not None for line in lines) else ()
    rows = []
    for line in lines:
        sticks = [f"{name} {line.text(yardstick)}" for name, yardstick in line.yardsticks.items()]
        against = "-" if line.ratio is None or line.best is None else f"{line.ratio:.2f} x {line.best.name}"
        rows.append((
            line.name, line.size, *(str(line.threads or "-") for _ in threads), line.text(line.tileproof),
            ", ".join([f"{each.name} {line.text(each)}" for each in line.everybody] + sticks) or "-", against,
            line.rate, "-" if line.of_limit is None else f"{line.of_limit:.0%}",
            "-" if line.tileproof is None else f"{line.tileproof.spread:.1%}",
            *(line.facts.get(name, "") for name in facts), line.verdict,
        ))  # fmt: skip
    return (*HEADS[:2], *threads, *HEADS[2:], *facts, "goals"), rows


def terminal(lines: Sequence[Line]) -> str:
    """The table and the goals, for a terminal."""
    notes = [f"note: {line.label}: {note}" for line in lines for note in line.notes]
    return "\n".join([columns(*table(lines)), "", *summary(lines), *notes])


def grid(lines: Sequence[Line]) -> str:
    """Names by the number at their end: what ours takes, and how many times as fast as the best peer it is."""
    cells: dict[str, dict[int, str]] = {}
    for line in lines:
        name, _, number = line.name.rpartition(" ")
        ratio = "" if line.ratio is None else f", {line.ratio:.2f}x"
        text = f"{line.text(line.tileproof)}{ratio}"
        cells.setdefault(name, {})[int(number)] = f"**{text}**" if line.missed else text
    numbers = sorted({number for row in cells.values() for number in row})
    rows = [(name, *(row.get(number, "-") for number in numbers)) for name, row in cells.items()]
    return markdown(("", *map(str, numbers)), rows)


def part(section: Section, results: Results, pictures: Sequence[tuple[str, str]], has_tried: bool = False) -> str:
    """A section as Markdown: goals, tables, pictures, then how it was measured, and on what."""
    lines = results.lines
    first, *others = summary(lines)
    blocks = [f"## {section.title}", "", f"**{first}.**", "", *(f"- {other}" for other in others), *[""] * bool(others)]
    for group, peer in section.means.items():
        mean = geometric_mean([line for line in lines if line.group in group.split()], peer)
        if mean is not None:
            verdict = "met" if mean >= 1 else "MISSED"
            named = group.replace(" ", " and ")
            blocks += [f"Geometric mean of {named}: {mean:.3f} x {peer}, goal 1: {verdict}.", ""]
    for title, of in section.ordered(lines).items():
        blocks += [f"### {title}", "", *_notes_of(section, of)]
        drawn = markdown(*table(of))
        if of[0].group in section.grids:
            blocks += [grid(of), "", *_folded("Every figure", drawn)]
        else:
            blocks += [drawn, ""]
        absent = {column: why for line in of for column, why in line.absent.items()}
        gone = [f"{name}: {why}" for name, why in absent.items() if not any(line.peers.get(name) for line in of)]
        blocks += [f"Not measured: {'; '.join(gone)}.", ""] if gone else []
    blocks += [text for title, file in pictures for text in (f"![{title}]({file})", "")]
    blocks += [*_twins(lines), "### How it was measured", "", fill(section.about, 120, break_on_hyphens=False), ""]
    blocks += [f"[What was tried]({TRIED}) where a goal is missed.", ""] if has_tried else []
    blocks += [*_notes(lines), *_how(lines)]
    for number, run in enumerate(results.runs):
        many = len(results.runs) > 1
        mine = [("rows", str(sum(line.run == number for line in lines)))] if many else []
        blocks += [f"### The machine{f', run {number + 1} of {len(results.runs)}' * many}", "",
                 markdown(("what", "here"), [*run.items(), *mine]), ""]  # fmt: skip
    return "\n".join(blocks)


def _notes_of(section: Section, lines: Sequence[Line]) -> list[str]:
    notes = dict.fromkeys(section.notes[line.group] for line in lines if line.group in section.notes)
    return [text for note in notes for text in (note, "")]


def _folded(title: str, text: str) -> list[str]:
    return [f'<details markdown="1"><summary>{title}</summary>', "", text, "", "</details>", ""]


def _twins(lines: Sequence[Line]) -> list[str]:
    cells = [
        (line.name, line.text(line.tileproof), line.text(line.twin),
         f"{line.tileproof.value / line.twin.value:.3f}{', same code' * line.is_same_code}")
        for line in lines if line.twin is not None and line.tileproof is not None
    ]  # fmt: skip
    if not cells:
        return []
    return [
        "### Safe against unsafe", "",
        "The unsafe twin is the same work without its checks. Where everything was proved, the code is the same, and",
        "the ratio, our time over the twin's, is noise.", "",
        markdown(("row", "safe", "unsafe twin", "ratio"), cells), "",
    ]  # fmt: skip


def _notes(lines: Sequence[Line]) -> list[str]:
    notes: dict[str, list[str]] = {}
    for line in lines:
        forms = [", ".join(f"{form.name} {line.text(form)}" for form in line.forms)] if line.forms else []
        for note in (*forms, *line.notes):
            notes.setdefault(note, []).append(line.label)
    text = [f"- **{'; '.join(names)}**: {note}" for note, names in notes.items()]
    return ["### Notes", "", *text, ""] if text else []


def _how(lines: Sequence[Line]) -> list[str]:
    rows = dict.fromkeys((line.name, "; ".join(f"`{each}`" for each in line.how)) for line in lines if line.how)
    return _folded("What each row launches", markdown(("row", "launches"), [*rows])) if rows else []


# Files.


def pictures_of(section: Section, folder: Path, lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """Titles and files: drawn anew, or those that are there where nothing can be drawn."""
    for title, file, kind, groups in section.pictures:
        text = [line for line in lines if line.tileproof is not None and (not groups or line.group in groups)]
        if picture.can_draw():
            if text and picture.draw(kind, folder / file, text):
                yield title, file
        elif (folder / file).exists():
            yield title, file


def write_pages(sections: Sequence[Section], results: Path = RESULTS, index: Path = INDEX) -> list[Path]:
    """Makes the pages of all devices anew, and the list of them in the documentation if the results are its own."""
    pages = []
    for folder in sorted(each for each in results.iterdir() if each.is_dir()):
        tried = folder / TRIED
        chapters = re.findall(r"^# (\S+)", tried.read_text(encoding="utf-8"), re.MULTILINE) if tried.exists() else []
        texts: dict[str, list[str]] = {}
        for section in sections:
            result = kept(folder / section.file)
            if result.lines:
                title = device_of(result.runs[0]) or folder.name
                begun = f"# {title}\n\nMade by `python -m benchmarks` from the data.\n"
                pictures = [*pictures_of(section, folder, result.lines)]
                text = part(section, result, pictures, Path(section.file).stem in chapters)
                texts.setdefault(section.page, [begun]).append(text)
        for name, parts in texts.items():
            (folder / name).write_text("\n".join(parts), encoding="utf-8")
            pages.append(folder / name)
    if results.resolve() == RESULTS:
        index.write_text(listed(index.read_text(encoding="utf-8"), pages), encoding="utf-8")
    return pages


def listed(text: str, pages: Sequence[Path]) -> str:
    """A page of the documentation with a section for each machine: its name, links and pictures."""
    blocks: list[str] = [_BEGIN]
    for page in pages:
        result = page.read_text(encoding="utf-8")
        title, there = result.partition("\n")[0].removeprefix("# "), f"../benchmarks/results/{page.parent.name}"
        if page.name == "README.md":
            output = re.findall(r"^!\[(.+?)\]\((.+?\.png)\)", result, flags=re.MULTILINE)
            blocks += ["", f"## {title}", "", f"[All figures of this machine]({there}/{page.name}).",
                     *(line for name, file in output for line in ("", f"![{title}, {name}]({there}/{file})"))]
    before, _, rest = text.partition(_BEGIN)
    return before + "\n".join([*blocks, *([""] if pages else []), _END]) + rest.partition(_END)[2]
