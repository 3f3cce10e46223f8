"""Ctrl-C while the command `tileproof` starts or ends: it ends the process, without a traceback.

Python imports the whole package before it runs any code of the command, so this module comes first. Programs that
import tileproof are left alone.
"""

from __future__ import annotations

import signal
import sys
from contextlib import suppress


def _is_command() -> bool:
    """Whether this process is the command: its script, or `python -m tileproof`."""
    name: str = (getattr(sys, "argv", None) or [""])[0]
    if name == "-m":  # as long as Python looks for the module
        words = sys.orig_argv
        return any(words[at : at + 2] == ["-m", "tileproof"] for at in range(len(words)))
    return name.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") == "tileproof"


def end_process() -> None:
    """Lets Ctrl-C end the process from now on, as it ends a program in C, unless the process ignores it."""
    with suppress(ValueError):  # of a thread that is not the main one
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def raise_again() -> None:
    """Lets Ctrl-C raise KeyboardInterrupt, as Python does by default."""
    with suppress(ValueError):
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)


IS_COMMAND = _is_command()
if IS_COMMAND:
    end_process()
