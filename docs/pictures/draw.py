"""Draws the pictures of the pages: `python docs/pictures/draw.py` writes an SVG beside this file for each.

A picture stands on a card of its own, light or dark as the reader's system is, so that it reads on any page. What
belongs together, in most of them the work of one program, has one color.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
CELL = 24
STYLE = """\
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2430; }
.small { font-size: 11px; }
.soft { fill: #5d6475; }
.over { paint-order: stroke; stroke: #fbfbfd; stroke-width: 5px; stroke-linejoin: round; }
.card { fill: #fbfbfd; stroke: #d9dce4; }
.cell { fill: none; stroke: #9aa1b1; }
.gone { fill: none; stroke: #b4bac7; stroke-dasharray: 3 3; }
.arrow { fill: none; stroke: #5d6475; stroke-width: 1.5; }
.head { fill: #5d6475; }
.p0 { fill: #2f6fed; stroke: #2f6fed; }
.p1 { fill: #e07b12; stroke: #e07b12; }
.p2 { fill: #1d9a5b; stroke: #1d9a5b; }
.tint { fill-opacity: 0.2; stroke-width: 1.5; }
.deep { fill-opacity: 0.5; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e8ef; }
  .soft { fill: #a5acbc; }
  .over { stroke: #1c1f29; }
  .card { fill: #1c1f29; stroke: #363b49; }
  .cell { stroke: #666d7e; }
  .gone { stroke: #565d6d; }
  .arrow { stroke: #a5acbc; }
  .head { fill: #a5acbc; }
  .p0 { fill: #6ea0ff; stroke: #6ea0ff; }
  .p1 { fill: #ffa647; stroke: #ffa647; }
  .p2 { fill: #4fd08c; stroke: #4fd08c; }
}
"""


def tiles(extent: int, size: int, start: int = 0) -> list[tuple[int, int]]:
    """The tiles of a dimension, or of its part from `start` on: where each begins and ends; the last may be short."""
    return [(at, min(at + size, extent)) for at in range(start, extent, size)]


class Picture:
    """A drawing that grows by rectangles, words and arrows; positions are in pixels from the top left."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []
        self.box(0.5, 0.5, width - 1, height - 1, "card", round_by=8)

    def box(self, x: float, y: float, width: float, height: float, kind: str, round_by: int = 0) -> None:
        corner = f' rx="{round_by}"' if round_by else ""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{corner} class="{kind}"/>')

    def cells(self, x: float, y: float, columns: int, rows: int = 1, kind: str = "cell", size: int = CELL) -> None:
        """A block of elements."""
        for row in range(rows):
            for column in range(columns):
                self.box(x + column * size, y + row * size, size, size, kind)

    def text(self, x: float, y: float, words: object, kind: str = "", anchor: str = "middle") -> None:
        style = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{style}>{escape(str(words))}</text>')

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """An arrow to the right, down or up."""
        middle, sign = (y + to_y) / 2, 1 if y < to_y else -1
        if y == to_y:
            path, head = f"M{x:g} {y:g}H{to_x - 6:g}", f"M{to_x:g} {to_y:g}l-8 -4v8z"
        else:
            path = f"M{x:g} {y:g}C{x:g} {middle:g} {to_x:g} {middle:g} {to_x:g} {to_y - 6 * sign:g}"
            head = f"M{to_x:g} {to_y:g}l-4 {-8 * sign}h8z"
        self.parts += [f'<path d="{path}" class="arrow"/>', f'<path d="{head}" class="head"/>']

    def link(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """An arrow from left to right that leaves and arrives level."""
        path = f"M{x:g} {y:g}C{x + 60:g} {y:g} {to_x - 60:g} {to_y:g} {to_x - 6:g} {to_y:g}"
        head = f"M{to_x:g} {to_y:g}l-8 -4v8z"
        self.parts += [f'<path d="{path}" class="arrow"/>', f'<path d="{head}" class="head"/>']

    def svg(self) -> str:
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        title = f"<title>{escape(self.title)}</title>"
        return "\n".join([head, title, f"<style>\n{STYLE}</style>", *self.parts, "</svg>\n"])


def strip() -> Picture:
    """One dimension cut among programs."""
    extent, size, left = 10, 4, 80
    picture = Picture(540, 182, "N of 10 elements in tiles of 4: three programs, the last one with two elements")
    for row, name in enumerate(("a", "b", "c")):
        top = 22 + row * 36
        picture.text(left - 18, top + 17, name)
        picture.cells(left, top, extent)
        picture.cells(left + extent * CELL, top, 2, kind="gone")
        for number, (start, stop) in enumerate(tiles(extent, size)):
            picture.box(left + start * CELL, top, (stop - start) * CELL, CELL, f"p{number} tint")
    for number, (start, stop) in enumerate(tiles(extent, size)):
        middle = left + (start + stop) / 2 * CELL
        picture.text(middle, 148, f"n={start}:{stop}", "small" if stop - start < size else "")
        picture.text(middle, 166, number, "small soft")
    picture.text(left - 12, 166, "program", "small soft", "end")
    picture.text(left + 12 * CELL + 14, 40, "these two do not", "small soft", "start")
    picture.text(left + 12 * CELL + 14, 55, "exist: no program", "small soft", "start")
    picture.text(left + 12 * CELL + 14, 70, "reads or writes them", "small soft", "start")
    return picture


def row() -> Picture:
    """A row for each program, walked tile by tile with two values carried along."""
    columns, size, left, top = 10, 4, 80, 24
    picture = Picture(640, 268, "each program owns a row, walks its tiles in order and carries two numbers along")
    for number in range(3):
        picture.text(left - 16, top + number * 30 + 17, f"r={number}", anchor="end")
        picture.cells(left, top + number * 30, columns)
        picture.box(left, top + number * 30, columns * CELL, CELL, f"p{number} tint")
    picture.text(left + columns * CELL + 16, top + 17, "a program for each row", "small soft", "start")
    y, x = 176, 112
    picture.text(left - 16, y + 5, "r=1", anchor="end")
    picture.text(left - 16, y + 20, "iterates", "small soft", "end")
    for number, (start, stop) in enumerate(tiles(columns, size)):
        width = (stop - start) * CELL
        picture.box(x - 24, y - 14, 24, 34, "p1 tint", round_by=5)
        picture.text(x - 12, y + 7, "0" if number == 0 else number)
        picture.arrow(x, y + 3, x + 20, y + 3)
        picture.cells(x + 20, y - 9, stop - start)
        picture.box(x + 20, y - 9, width, CELL, "p1 deep")
        picture.text(x + 20 + width / 2, y - 20, f"c={start}:{stop}", "small")
        picture.arrow(x + 20 + width, y + 3, x + 40 + width, y + 3)
        x += width + 64
    picture.box(x - 24, y - 14, 24, 34, "p1 tint", round_by=5)
    picture.text(x - 12, y + 7, "3")
    picture.text(left, 232, "the small boxes are what is carried: top and total", "small soft", "start")
    picture.text(left, 248, "box 0 is before the loop, box 3 after it", "small soft", "start")
    return picture


def space() -> Picture:
    """Two dimensions cut among programs."""
    height, width, size_m, size_n, left, top = 10, 14, 4, 6, 92, 46
    picture = Picture(640, 330, "M of 10 by N of 14 in tiles of 4 by 6: nine programs, with short ones at the edges")
    picture.cells(left, top, width, height)
    for a, (i, i_stop) in enumerate(tiles(height, size_m)):
        y = top + (i + i_stop) / 2 * CELL
        picture.text(left - 10, y + 5, f"i={i}:{i_stop}", anchor="end")
        for b, (j, j_stop) in enumerate(tiles(width, size_n)):
            x, tall, wide = left + j * CELL, (i_stop - i) * CELL, (j_stop - j) * CELL
            picture.box(x, top + i * CELL, wide, tall, f"p{(a + b) % 3} tint")
            picture.text(x + wide / 2, y + 5, f"{i_stop - i}x{j_stop - j}", "over")
    for j, j_stop in tiles(width, size_n):
        picture.text(left + (j + j_stop) / 2 * CELL, top - 10, f"j={j}:{j_stop}", "small" if j_stop - j < 3 else "")
    x = left + width * CELL + 16
    picture.text(x, top + 16, "tp.parallel(M=4, N=6)", "small", "start")
    for line, words in enumerate(("every box is a program:", "9 of them, in any order,", "at the same time")):
        picture.text(x, top + 50 + line * 17, words, "small soft", "start")
    picture.text(left, top + height * CELL + 24, "the edges are short tiles, not masked ones", "small soft", "start")
    return picture


def product() -> Picture:
    """One program of a matrix product, and the tiles that meet along K."""
    m, n, k, size, small = 10, 14, 10, 4, 16
    picture = Picture(640, 400, "one program of a matrix product: tiles of a and b meet as both walk K")
    left, top, gap = 40, 30, 36
    c_x, c_y = left + k * small + gap, top + k * small + gap
    for x, y, columns, rows, name in ((left, c_y, k, m, "a"), (c_x, top, n, k, "b"), (c_x, c_y, n, m, "c")):
        picture.cells(x, y, columns, rows, size=small)
        picture.text(x - 14, y + 12, name)
    picture.text(left + k * small / 2, c_y - 10, "K", "soft")
    picture.text(left - 14, c_y + m * small / 2 + 4, "M", "soft")
    picture.text(c_x - 14, top + k * small / 2 + 4, "K", "soft")
    picture.text(c_x + n * small / 2, top - 10, "N", "soft")
    i, i_stop, j, j_stop = 4, 8, 6, 12
    for number, (start, stop) in enumerate(tiles(k, size)):
        long = (stop - start) * small
        picture.box(left + start * small, c_y + i * small, long, (i_stop - i) * small, f"p{number} deep")
        picture.box(c_x + j * small, top + start * small, (j_stop - j) * small, long, f"p{number} deep")
        picture.text(left + (start + stop) / 2 * small, c_y + (i + i_stop) / 2 * small + 5, number, "over")
        picture.text(c_x + (j + j_stop) / 2 * small, top + (start + stop) / 2 * small + 5, number, "over")
    picture.box(c_x + j * small, c_y + i * small, (j_stop - j) * small, (i_stop - i) * small, "p0 tint")
    picture.text(c_x + (j + j_stop) / 2 * small, c_y + (i + i_stop) / 2 * small + 5, "acc", "over")
    picture.arrow(left + k * small + 4, c_y + 6 * small, c_x + j * small - 4, c_y + 6 * small)
    picture.arrow(c_x + 9 * small, top + k * small + 4, c_x + 9 * small, c_y + i * small - 4)
    x = c_x + n * small + 16
    for line, words in enumerate(("step 0: k=0:4", "step 1: k=4:8", "step 2: k=8:10")):
        picture.box(x, top + line * 20, 12, 12, f"p{line} deep")
        picture.text(x + 20, top + 10 + line * 20, words, "small soft", "start")
    for line, words in enumerate(("tile and tile of", "one color are", "multiplied, and", "acc takes the sum")):
        picture.text(x, c_y + 60 + line * 16, words, "small soft", "start")
    return picture


def gather() -> Picture:
    """Rows picked by an index tensor."""
    ids, rows, columns = (3, 0, 3, 5), 6, 5
    picture = Picture(640, 236, "ids names rows of the table, and each program copies the row it was given")
    left, top = 60, 40
    picture.text(left + CELL / 2, 26, "ids")
    table, result = left + 190, left + 420
    picture.text(table + columns * CELL / 2, 26, "table: V=6")
    picture.text(result + columns * CELL / 2, 26, "y")
    picture.cells(table, top, columns, rows)
    for number in range(rows):
        picture.text(table - 10, top + number * CELL + 17, number, "small soft")
    picture.cells(result, top, columns, len(ids))
    for number, entry in enumerate(ids):
        y, kind = top + number * CELL, f"p{(0, 1, 0, 2)[number]}"
        picture.box(left, y, CELL, CELL, f"{kind} tint")
        picture.text(left + CELL / 2, y + 17, entry)
        picture.text(left - 10, y + 17, f"n={number}", "small soft", "end")
        picture.box(table, top + entry * CELL, columns * CELL, CELL, f"{kind} tint")
        picture.box(result, y, columns * CELL, CELL, f"{kind} tint")
        picture.link(left + CELL + 4, y + 12, table - 20, top + entry * CELL + 12)
    picture.arrow(table + columns * CELL + 16, top + 48, result - 16, top + 48)
    picture.text((table + columns * CELL + result) / 2, top + 36, "copied", "small soft")
    note = 'ids is In[Index["V"], "N"]: the launch makes sure that each entry is a row'
    picture.text(left - 32, 218, note, "small soft", "start")
    return picture


def total() -> Picture:
    """Many programs that add to the same elements."""
    ids, size, buckets = (3, 1, 4, 0, 5, 2, 1, 4, 5, 3), 4, 6
    picture = Picture(520, 222, "three programs count into six buckets: several meet in one bucket, none is lost")
    left, top, floor = 70, 24, 168
    picture.text(left - 12, top + 17, "ids", anchor="end")
    heights = [0] * buckets
    for number, (start, stop) in enumerate(tiles(len(ids), size)):
        picture.box(left + start * CELL, top, (stop - start) * CELL, CELL, f"p{number} tint")
        picture.text(left + (start + stop) / 2 * CELL, top + 40, f"n={start}:{stop}", "small soft")
        for at in range(start, stop):
            picture.text(left + at * CELL + CELL / 2, top + 17, ids[at])
            heights[ids[at]] += 1
            x, y = left + ids[at] * 40, floor - heights[ids[at]] * CELL
            picture.box(x, y, CELL, CELL, f"p{number} deep")
    for bucket in range(buckets):
        x = left + bucket * 40
        picture.parts.append(f'<path d="M{x - 6} {floor}h{CELL + 12}" class="arrow"/>')
        picture.text(x + CELL / 2, floor + 18, bucket, "small soft")
        picture.text(x + CELL / 2, floor + 36, heights[bucket])
    picture.text(left - 12, floor + 36, "count", anchor="end")
    picture.text(left + 280, 128, "a color is a program;", "small soft", "start")
    picture.text(left + 280, 144, "in a Sum they coincide", "small soft", "start")
    return picture


def join() -> Picture:
    """A dimension split among programs whose results are joined."""
    extent, piece, size, left, top, small = 18, 8, 4, 70, 44, 30
    picture = Picture(640, 312, "the cache is split among three programs; merge joins their results in order")
    picture.text(left - 14, top + 17, "C", anchor="end")
    centres = []
    for number, (start, stop) in enumerate(tiles(extent, piece)):
        picture.box(left + start * small, top, (stop - start) * small, CELL, f"p{number} tint")
        picture.text(left + (start + stop) / 2 * small, top - 12, f"z={start}:{stop}", "small" * (stop - start < size))
        for t, t_stop in tiles(stop, size, start):
            picture.box(left + t * small, top, (t_stop - t) * small, CELL, f"p{number} tint")
            words = f"{t}:{t_stop}" if t_stop - t < size else f"t={t}:{t_stop}"
            picture.text(left + (t + t_stop) / 2 * small, top + 16, words, "small")
        centres.append(left + (start + stop) / 2 * small)
    y = 116
    for number, centre in enumerate(centres):
        picture.arrow(centre, top + CELL + 4, centre, y - 4)
        wide = 150 if number < 2 else 70
        picture.box(centre - wide / 2, y, wide, 30, f"p{number} tint", round_by=5)
        picture.text(centre, y + 19, "top total acc" if number < 2 else "the same", "small")
    first, second, y = (centres[0] + centres[1]) / 2, centres[2] - 40, 196
    for centre in centres[:2]:
        picture.arrow(centre, 150, first + (-30 if centre < first else 30), y - 4)
    picture.box(first - 40, y, 80, 28, "cell", round_by=14)
    picture.text(first, y + 18, "merge")
    picture.arrow(centres[2], 150, centres[2], 248)
    picture.arrow(first, y + 32, second, 248)
    picture.box(second - 40, 252, 100, 28, "cell", round_by=14)
    picture.text(second + 10, 270, "merge")
    picture.text(left - 36, 262, "tp.join: from left to right, always in this order;", "small soft", "start")
    picture.text(left - 36, 278, "what follows runs once, and writes o[h, :]", "small soft", "start")
    return picture


def host() -> Picture:
    """What Python, two streams and two tensors do at the same time."""
    picture = Picture(720, 322, "Python goes on while two streams work; leases say who may touch a tensor, and when")
    python, first, side, h, y = 34, 98, 142, 206, 262
    begins, ends, launched, over = 150, 408, 284, 610
    for top, name in ((python, "Python"), (first, "stream"), (side, "side"), (h + 10, "h"), (y, "y")):
        picture.text(92, top + 17, name, anchor="end")
    for x, wide, words in ((108, 116, "matmul(h, x, w)"), (228, 80, "relu(y, h)"), (326, 80, "h[...] = 0"),
                           (424, 80, "y.tolist()")):  # fmt: skip
        picture.box(x, python, wide, CELL, "cell", round_by=4)
        picture.text(x + wide / 2, python + 16, words, "small")
    picture.text(366, python + 40, "raises", "small soft")
    picture.box(504, python, over - 504, CELL, "gone")
    picture.text(557, python + 16, "waits", "small soft")
    picture.box(over, python, 76, CELL, "cell", round_by=4)
    picture.text(over + 38, python + 16, "has it", "small")
    picture.box(begins, first, ends - begins, CELL, "p0 deep", round_by=4)
    picture.text((begins + ends) / 2, first + 17, "matmul")
    picture.box(launched, side, ends - launched, CELL, "gone")
    picture.text((launched + ends) / 2, side + 16, "waits", "small soft")
    picture.box(ends, side, over - ends, CELL, "p1 deep", round_by=4)
    picture.text((ends + over) / 2, side + 17, "relu")
    picture.arrow(ends - 8, first + CELL + 2, ends + 8, side - 3)
    picture.arrow(over - 8, side - 3, over + 8, python + CELL + 4)
    leases = ((h, 132, ends, "p0", "matmul writes h"), (h + 22, launched, over, "p1", "relu reads h"),
              (y, launched, over, "p1", "relu writes y"))  # fmt: skip
    for top, start, stop, kind, words in leases:
        picture.box(start, top, stop - start, 20, f"{kind} tint", round_by=4)
        picture.text((start + stop) / 2, top + 14, words, "small")
    picture.text(108, y + 44, "a lease lasts from the launch to the end of the work", "small soft", "start")
    picture.text(640, y + 44, "time", "small soft", "end")
    picture.arrow(648, y + 40, 686, y + 40)
    return picture


PICTURES: dict[str, Callable[[], Picture]] = {
    "strip": strip, "row": row, "space": space, "product": product, "gather": gather, "total": total, "join": join,
    "host": host,
}  # fmt: skip


def drawn() -> dict[str, str]:
    """Every picture, by the name of its file."""
    return {f"{name}.svg": draw().svg() for name, draw in PICTURES.items()}


if __name__ == "__main__":
    for name, text in drawn().items():
        (HERE / name).write_text(text, encoding="utf-8")
        print(f"docs/pictures/{name}")
