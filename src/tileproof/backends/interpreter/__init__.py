"""The interpreter: numpy executes the IR point by point. The oracle of every test and the user's debugger."""

from .points import Order
from .run import run

__all__ = ["Order", "run"]
