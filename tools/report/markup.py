"""Pieces of HTML: text made harmless, tables that scroll by themselves, and Python with its words coloured."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from .facts import Settled
from .words import RUNG_WORDS, STATE_WORDS


def code(text: str) -> str:
    """Something as it is typed."""
    return f"<code>{escape(text)}</code>"


def prose(text: str) -> str:
    """A sentence in which backticks mark what is typed."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(code(part) if place % 2 else escape(part) for place, part in enumerate(parts))


def chip(rung: int, text: str = "") -> str:
    """A rung, as a small label."""
    name = RUNG_WORDS[rung][0]
    return f'<span class="rung r{rung}" title="rung {rung}: {name}">{escape(text or f"{rung} {name}")}</span>'


def state(word: str, text: str = "") -> str:
    """What came of a kernel, as a label."""
    return f'<span class="state {word}">{escape(text or STATE_WORDS[word])}</span>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], label: str, kind: str = "") -> str:
    """Cells that are HTML already, in a frame that scrolls where the screen is narrow."""
    result = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    return framed(f"<thead><tr>{head}</tr></thead><tbody>{result}</tbody>", label, kind)


def framed(inner: str, label: str, kind: str = "") -> str:
    """The inside of a table in its frame, which the keyboard can scroll too."""
    classes = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll" role="region" aria-label="{escape(label)}" tabindex="0">'
        f"<table{classes}>{inner}</table></div>"
    )


def listed(items: Iterable[str], kind: str = "") -> str:
    """A list of what is HTML already; nothing if there is nothing."""
    result = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul class="{kind}">{result}</ul>' if result else ""


# Source.


def source(lines: Sequence[str], first: int, settled: Iterable[Settled]) -> str:
    """A kernel with the numbers of its lines; those with accesses carry the rungs that settle them."""
    rungs: dict[int, set[int]] = {}
    for each in settled:
        rungs.setdefault(each.line, set()).add(each.rung)
    coloured = _coloured(lines)
    results = []
    for number, text in enumerate(coloured, first):
        own = sorted(rungs.get(number, ()))
        marks = "".join(f'<i class="r{rung}">{rung}</i>' for rung in own)
        kind = f' class="access r{own[-1]}"' if own else ""
        results.append(f"<span{kind}><b>{number}</b><u>{marks}</u>{text or ' '}</span>")
    return f'<pre class="source" tabindex="0">{"".join(results)}</pre>'


def _coloured(lines: Sequence[str]) -> list[str]:
    """Each line as HTML; plain where Python cannot read it."""
    marks: dict[int, list[tuple[int, int, str]]] = {}
    reader = io.StringIO("\n".join(lines) + "\n").readline
    try:
        for token in tokenize.generate_tokens(reader):
            kind = _KINDS.get(token.type, "")
            if token.type == tokenize.NAME and (keyword.iskeyword(token.string) or token.string in ("tp", "self")):
                kind = "k" if token.string != "tp" else "t"
            if kind:
                for row in range(token.start[0], token.end[0] + 1):
                    begin = token.start[1] if row == token.start[0] else 0
                    end = token.end[1] if row == token.end[0] else len(lines[row - 1])
                    marks.setdefault(row, []).append((begin, end, kind))
    except (tokenize.TokenError, IndentationError, IndexError):
        return [escape(line) for line in lines]
    return [_marked(line, marks.get(number, ())) for number, line in enumerate(lines, 1)]


_KINDS: Mapping[int, str] = {tokenize.STRING: "s", tokenize.COMMENT: "c", tokenize.NUMBER: "n"}


def _marked(line: str, marks: Iterable[tuple[int, int, str]]) -> str:
    result, at = [], 0
    for begin, end, kind in marks:
        result += [escape(line[at:begin]), f'<em class="{kind}">{escape(line[begin:end])}</em>']
        at = end
    return "".join([*result, escape(line[at:])])
