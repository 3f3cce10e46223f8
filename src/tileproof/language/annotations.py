"""How a parameter may be used, written around its element type and dimensions: `In[bf16, "M K"]`.

The front end reads annotations from the source and recognises these classes by identity; their values are
never used. To type checkers they are `typing.Annotated`, so that a tensor is `Any`, and `Index` is `Literal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Annotated as In
    from typing import Annotated as InOut
    from typing import Annotated as Max
    from typing import Annotated as Min
    from typing import Annotated as Out
    from typing import Annotated as Sum
    from typing import Literal as Index
    from typing import Literal as Offsets
    from typing import Literal as Unique
else:

    class _Annotation:
        """Base of the annotations; subscripting one returns the class itself."""

        def __class_getitem__(cls, item: Any) -> type[_Annotation]:
            return cls

        def __new__(cls, *args: Any, **kwargs: Any) -> _Annotation:
            *_, example = (cls.__doc__ or "").split("`")[:-1] or [cls.__name__]
            raise TypeError(f"{cls.__name__} belongs in a kernel's signature, as in {example}")

    class In(_Annotation):
        """Shared and read-only: every program may read all of it, none writes.

        `x: In[bf16, "M K"]`
        """

    class Out(_Annotation):
        """Exclusive and write-only: each element is written by one program, and the launch writes them all.

        `y: Out[bf16, "M N"]`
        """

    class InOut(_Annotation):
        """Exclusive: read and written by the program that owns an element; the rest keeps its value.

        `cache: InOut[bf16, "H C D"]`
        """

    class Sum(_Annotation):
        """A total that many programs add to, by `s[i] += t` only. The launch clears it to 0 first.

        With "keep" after the dimensions it adds to what the tensor holds instead; so do `Max` and `Min`.

        `count: Sum[i32, "B"]`
        """

    class Max(_Annotation):
        """A maximum that many programs raise, by `tp.update` only, from the least value of its type.

        `top: Max[f32, "N"]`
        """

    class Min(_Annotation):
        """A minimum that many programs lower, by `tp.update` only, from the greatest value of its type.

        `low: Min[f32, "N"]`
        """

    class Index(_Annotation):
        """An element type: positions in a dimension, stored as i32 or i64 and read as `index`.

        `ids: In[Index["V"], "N"]`
        """

    class Unique(_Annotation):
        """An element type: positions in a dimension, none of them twice, or -1 for none.

        `slots: In[Unique["C"], "N"]`
        """

    class Offsets(_Annotation):
        """An element type: borders of segments of a dimension, from 0 to its extent, never falling.

        `Offsets["<=N"]` may end before the extent of N: what lies after the last border is in no segment.

        `off: In[Offsets["N"], "E+1"]`
        """


__all__ = ["In", "InOut", "Index", "Max", "Min", "Offsets", "Out", "Sum", "Unique"]
