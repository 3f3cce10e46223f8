"""Bundles: kernels that were proved and compiled elsewhere, in one file that a process loads.

A bundle is a zip archive: `manifest.json`, which says what is in it, and the entries of the kernel cache that launches
of these kernels look for, under the same keys. A bundle that is loaded is asked before the folder of the cache, so a
launch that it was made for needs neither the assembler nor the prover. The kernel's source is needed as ever: what is
launched is what stands there, and the bundle serves it only if it was made of the same text.

*Right or nothing.* Every entry carries a checksum, and all are verified when the bundle is read. One that was made by
another version of tileproof is refused, since its keys would never be asked for.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import LaunchError

from .cache import add_layer
from .proofs import fingerprint

FORMAT: Final = 1
"""Of bundles: one more whenever their layout changes."""
MANIFEST: Final = "manifest.json"
FOLDER: Final = "entries/"
_WHAT: Final = "tileproof bundle"
_loaded: list[Bundle] = []
"""The bundles of this process, latest first; `load_bundle` alone writes it."""


@dataclass(frozen=True, slots=True)
class Held:
    """A kernel of a bundle, compiled for launches like one."""

    kernel: str
    file: str
    """The name of its source, without the folder."""
    shapes: str
    """The arguments, as `tileproof compile --shapes` takes them."""
    constants: Mapping[str, Any]
    proof: str
    """The key of its proof."""
    codes: Mapping[str, Mapping[str, Any]]
    """For each architecture the key of its code, and what it takes."""


@dataclass(frozen=True, slots=True, repr=False)
class Bundle:
    """What `tp.load_bundle` gives: the kernels that need no compiling any more."""

    path: Path
    version: str
    """Of tileproof when it was made."""
    fingerprint: str
    assembler: str
    kernels: tuple[Held, ...]
    entries: Mapping[str, bytes]
    digest: str
    """Of the whole file."""

    @property
    def archs(self) -> tuple[str, ...]:
        """The architectures that some kernel of it was compiled for."""
        found = {arch for each in self.kernels for arch in each.codes}
        return tuple(sorted(found, key=lambda arch: (len(arch), arch)))

    @property
    def is_current(self) -> bool:
        """Whether it was made by this version of tileproof."""
        return self.fingerprint == fingerprint()

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(each.kernel for each in self.kernels))
        return f"<bundle {self.path.name}: {names} for {', '.join(self.archs)}>"


def load_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Makes the kernels of a bundle available: launches they were compiled for need no assembler and no prover.

        tp.load_bundle("kernels.tpb")

    `tileproof compile FILE --arch sm_90 -o kernels.tpb` makes one. Load only what you would run: it holds machine code,
    and proofs that are taken as they are.
    """
    found = read_bundle(path)
    again = next((each for each in _loaded if each.digest == found.digest), None)
    if again is not None:
        return again
    if not found.is_current:
        raise LaunchError(_outdated(found))
    add_layer(found.entries)
    _loaded.insert(0, found)
    return found


def read_bundle(path: str | os.PathLike[str]) -> Bundle:
    """A bundle as it is in its file, every entry verified, whichever version made it."""
    place = Path(path)
    try:
        data = place.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        cure = "give the path of a file that `tileproof compile -o` made"
        raise LaunchError(
            Diagnostic(Code.NO_FILE, f"the bundle `{place}` cannot be read", notes=(reason,), help=cure)
        ) from None
    if not data.startswith(b"PK"):
        raise LaunchError(_refusal(place, "is not a bundle of compiled kernels"))
    try:
        return _read(place, data)
    except LaunchError:
        raise
    except Exception as error:  # a damaged archive fails in a dozen ways, none of which says more than this
        raise LaunchError(_damaged(place, type(error).__name__)) from None


def _read(place: Path, data: bytes) -> Bundle:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = set(archive.namelist())
        if MANIFEST not in names:
            raise LaunchError(_refusal(place, "is an archive, but not a bundle of compiled kernels"))
        manifest = json.loads(archive.read(MANIFEST))
        if not isinstance(manifest, dict) or manifest.get("what") != _WHAT:
            raise LaunchError(_refusal(place, "is an archive, but not a bundle of compiled kernels"))
        if manifest["format"] != FORMAT:
            known = f"it has format {manifest['format']}, and this version of tileproof reads {FORMAT}"
            raise LaunchError(_refusal(place, "was made by another version of tileproof", known))
        entries = {key: _entry(place, archive, key, said) for key, said in manifest["entries"].items()}
    if names != {MANIFEST, *(FOLDER + key for key in entries)}:
        raise LaunchError(_damaged(place, "it holds more than its manifest says"))
    kernels = tuple(_held(each) for each in manifest["kernels"])
    for each in kernels:
        missing = {each.proof, *(code["key"] for code in each.codes.values())} - entries.keys()
        if missing:
            raise LaunchError(_damaged(place, f"the code of `{each.kernel}` is missing"))
    version, made, assembler = (str(manifest[name]) for name in ("tileproof", "fingerprint", "assembler"))
    return Bundle(place, version, made, assembler, kernels, entries, sha256(data).hexdigest())


def _entry(place: Path, archive: zipfile.ZipFile, key: str, said: Mapping[str, Any]) -> bytes:
    if archive.getinfo(FOLDER + key).file_size != said["bytes"]:
        raise LaunchError(_damaged(place, f"entry {key[:12]} has another length"))
    data = archive.read(FOLDER + key)
    if sha256(data).hexdigest() != said["sha256"]:
        raise LaunchError(_damaged(place, f"entry {key[:12]} has another checksum"))
    return data


def _held(said: Mapping[str, Any]) -> Held:
    return Held(
        str(said["kernel"]), str(said["file"]), str(said["shapes"]), dict(said["constants"]), str(said["proof"][-1]),
        {str(arch): dict(code) for arch, code in said["code"].items()},
    )  # fmt: skip


def pack(version: str, assembler: str, kernels: Sequence[Mapping[str, Any]], entries: Mapping[str, bytes]) -> bytes:
    """The bytes of a bundle, which are the same for the same content. `bundling` says what kernels look like."""
    manifest = {
        "what": _WHAT,
        "format": FORMAT,
        "tileproof": version,
        "fingerprint": fingerprint(),
        "assembler": assembler,
        "kernels": list(kernels),
        "entries": {
            key: {"bytes": len(entries[key]), "sha256": sha256(entries[key]).hexdigest()} for key in sorted(entries)
        },
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in ((MANIFEST, text.encode()), *((FOLDER + key, entries[key]) for key in sorted(entries))):
            member = zipfile.ZipInfo(name)  # its time is that of no clock
            member.create_system, member.external_attr = 3, 0o644 << 16
            archive.writestr(member, data, zipfile.ZIP_DEFLATED, 9)
    return file.getvalue()


# What is wrong.


def without_assembler(kernel: str, proof: str, arch: str, error: LaunchError) -> LaunchError:
    """Why a launch has no code though bundles are loaded; `error` says that there is no assembler to make it."""
    if not _loaded:
        return error
    (missing,) = error.diagnostics
    for bundle in _loaded:
        forms = [each for each in bundle.kernels if each.proof == proof]
        archs = sorted({known for each in forms for known in each.codes}, key=lambda known: (len(known), known))
        if forms and arch not in archs:
            return LaunchError(
                Diagnostic(
                    Code.WRONG_ARCH,
                    f"`{kernel}` was compiled for {', '.join(archs)}, and this GPU is {arch}",
                    notes=(f"it is in the bundle `{bundle.path}`", missing.message),
                    help=f"compile it for this GPU too: {_command([forms[0]], (*archs, arch), bundle.path)}",
                    kernel=kernel,
                )
            )
        if forms:
            known = f"the bundle `{bundle.path}` has it for {' and for '.join(_launch(each) for each in forms)}"
            return LaunchError(
                Diagnostic(
                    Code.NO_ASSEMBLER,
                    f"`{kernel}` was compiled for arguments that lie otherwise, or for another schedule",
                    notes=(known, missing.message),
                    help="compile it with --shapes and --schedule as it is launched, or install the assembler: "
                    f"{missing.help}",
                    kernel=kernel,
                )
            )
    held = "; ".join(f"`{each.path}` has {', '.join(sorted({one.kernel for one in each.kernels}))}" for each in _loaded)
    note = f"no bundle has `{kernel}` as it is launched: {held}"
    return LaunchError(Diagnostic(missing.code, missing.message, notes=(note, *missing.notes), help=missing.help))


def _launch(form: Held) -> str:
    return ", ".join((form.shapes, *(f"{name}={value}" for name, value in form.constants.items())))


def _command(forms: Sequence[Held], archs: Sequence[str], path: Path) -> str:
    """How a bundle is made."""
    files = " ".join(dict.fromkeys(each.file for each in forms))
    return f"tileproof compile {files} --arch {','.join(archs)} -o {path.name}"


def _outdated(found: Bundle) -> Diagnostic:
    return Diagnostic(
        Code.BAD_BUNDLE,
        f"the bundle `{found.path}` was made by another version of tileproof",
        notes=(f"it was made by {found.version} ({found.fingerprint[:12]}), and this one is {fingerprint()[:12]}",),
        help=f"make it anew with this version: {_command(found.kernels, found.archs, found.path)}",
    )


def _refusal(place: Path, what: str, *notes: str) -> Diagnostic:
    cure = "make one with `tileproof compile FILE --arch sm_90 -o BUNDLE`"
    return Diagnostic(Code.BAD_BUNDLE, f"`{place}` {what}", notes=notes, help=cure)


def _damaged(place: Path, why: str) -> Diagnostic:
    cure = "copy it again, or make it anew with `tileproof compile`"
    return Diagnostic(Code.BAD_BUNDLE, f"the bundle `{place}` is damaged", notes=(why,), help=cure)
