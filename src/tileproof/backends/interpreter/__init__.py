"""The interpreter: numpy executes the IR point by point. The oracle of every test and the user's debugger."""

from tileproof.backends.parallel_space import Order

from .interpret import InterpreterBackend, run

__all__ = ["InterpreterBackend", "Order", "run"]
