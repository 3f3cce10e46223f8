"""What a graph is made of, for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """One launch or copy of a graph."""

    kind: str
    """`kernel` or `copy`."""
    name: str
    uses: tuple[str, ...]
    """Its tensors, with what it does to them."""


@dataclass(frozen=True, slots=True)
class Description:
    """The nodes of a graph, and what waits for what."""

    device: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]
    """Places of nodes, (earlier, later), without those that follow from others."""

    def dot(self) -> str:
        """The graph in the language of Graphviz: `dot -Tsvg`."""
        lines = ["digraph {", "  node [shape=box, fontname=monospace]"]
        for place, node in enumerate(self.nodes):
            label = "\\l".join([f"{place}: {node.name}", *(f"  {use}" for use in node.uses)]) + "\\l"
            style = ", style=dashed" if node.kind == "copy" else ""
            lines.append(f'  {place} [label="{_escaped(label)}"{style}]')
        lines += [f"  {earlier} -> {later}" for earlier, later in self.edges]
        return "\n".join([*lines, "}"]) + "\n"

    def __str__(self) -> str:
        before: dict[int, list[int]] = {}
        for earlier, later in self.edges:
            before.setdefault(later, []).append(earlier)
        lines = [f"graph of {self.device}: {len(self.nodes)} nodes, {len(self.edges)} edges"]
        for place, node in enumerate(self.nodes):
            waits = f"  after {', '.join(map(str, before[place]))}" if place in before else ""
            lines.append(f"  {place}  {node.kind} {node.name}({', '.join(node.uses)}){waits}")
        return "\n".join(lines)


def _escaped(text: str) -> str:
    return text.replace('"', '\\"')
