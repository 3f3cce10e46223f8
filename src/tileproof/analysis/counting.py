"""Coverage by counting: as many writes, of which no two meet, as there are elements."""

from __future__ import annotations

from dataclasses import dataclass

from tileproof.ir import ops
from tileproof.ir.types import Tensor, WalkerTag

from .coverage import stores
from .entries import entries_of
from .reading import Reader
from .sites import Site
from .terms import Term, number, product


@dataclass(frozen=True, slots=True)
class Scatter:
    """A single store whose writes, if they never meet, are `writes` many, of `elements` in all."""

    site: Site
    writes: Term
    elements: Term
    through: tuple[str, ...]
    """`Unique` tensors that must hold no -1."""


def scatter(reader: Reader, tensor: Tensor) -> Scatter | None:
    """The one store of a tensor as a map from writes to elements, if it is run once by every program."""
    sites = stores(reader, tensor)
    if len(sites) != 1 or sites[0].where.nest or reader.parallel is None or sites[0].where.after_join:
        return None
    (site,) = sites
    if isinstance(site.op, ops.Store) and site.op.raw:
        return None  # nobody proved that its writes do not meet
    writes, elements = number(1), number(1)
    alive: set[str] = set()
    """Walkers each of whose elements is a write of its own."""
    for spot in site.spots:
        match spot.pick:
            case ops.Whole():
                continue
            case ops.Along(walker):
                alive.add(walker.name)
            case ops.Gather(indices):
                tag = indices.type.axes[0].tag
                if not isinstance(tag, WalkerTag):
                    return None
                alive.add(tag.walker.name)
            case ops.Window():
                return None
            case _:
                pass
        elements = product(elements, spot.extent)
    for walker in reader.parallel.walkers:
        if walker.type.is_piece or not (walker.type.is_each or walker.name in alive):
            return None
        writes = product(writes, reader.account.walks[walker].extent)
    through = entries_of(site.present, reader.account.definitions, reader.values.filled)
    return None if through is None else Scatter(site, writes, elements, through)
