"""Bundles: kernels that were proved and compiled elsewhere, in one file that a process loads.

A bundle is a zip archive of entries of the kernel cache, each as its file in the folder of the cache is, and of
`manifest.json`, which names the kernels, the launches they were compiled for, and the entries these look for. A bundle
that is loaded is asked before the folder of the cache, so a launch that it was made for needs neither the assembler nor
the prover. The kernel's source is needed as ever: what is launched is what stands there, and the bundle serves it only
if it was made of the same text.

*Right or nothing.* Every entry is verified as the cache verifies its files before any of them is used. What is read is
bounded, whatever the archive claims. A bundle of another version of tileproof is rejected, since its keys would never
be asked for.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError

from .cache import DEFAULT_LIMIT, add_layer, entry_bytes, file_of, parse_entry
from .proofs import fingerprint

FORMAT: Final = 2
"""Of bundles: one more whenever their layout changes."""
MANIFEST: Final = "manifest.json"
_WHAT: Final = "tileproof bundle"
_LARGEST: Final = DEFAULT_LIMIT
"""Bytes of all members of a bundle, unpacked."""
_MOST: Final = 0xFFFF
"""Members of a bundle: as many as an archive has that is no 64-bit one."""
_LARGEST_MANIFEST: Final = 8 << 20
_LARGEST_DIRECTORY: Final = 8 << 20
"""Bytes of the list of members at the end of the archive."""
_END: Final = struct.Struct("<4s16x4s8xI4xH")
"""How an archive ends: a mark if it is a 64-bit one, the mark of the end, the bytes of the list of members, and those
of a comment."""
_loaded: list[Bundle] = []
"""The bundles of this process, latest first; `load_bundle` alone writes it."""


@dataclass(frozen=True, slots=True)
class BundledKernel:
    """A kernel of a bundle, compiled for launches like one."""

    kernel: str
    file: str
    """The name of its source, without the folder."""
    shapes: str
    """The arguments, as `tileproof compile --shapes` takes them."""
    constants: Mapping[str, Any]
    proof: Sequence[str]
    """The keys of what its proof consists of."""
    codes: Mapping[str, str]
    """For each architecture the key of its code."""


@dataclass(frozen=True, slots=True, repr=False)
class Bundle:
    """What `tp.load_bundle` gives: the kernels that need no compiling any more."""

    path: Path
    version: str
    """Of tileproof when it was made."""
    fingerprint: str
    assembler: str
    kernels: tuple[BundledKernel, ...]
    entries: Mapping[str, bytes]

    @property
    def archs(self) -> tuple[str, ...]:
        """The architectures that some kernel of it was compiled for."""
        return _in_order(arch for kernel in self.kernels for arch in kernel.codes)

    @property
    def is_current(self) -> bool:
        """Whether it was made by this version of tileproof."""
        return self.fingerprint == fingerprint()

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(kernel.kernel for kernel in self.kernels))
        return f"<bundle {self.path.name}: {names} for {', '.join(self.archs)}>"


def load_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Makes the kernels of a bundle available: launches they were compiled for need no assembler and no prover.

        tp.load_bundle("kernels.tpb")

    `tileproof compile FILE --arch sm_90 -o kernels.tpb` makes one. Load only what you would run: it holds machine code,
    and proofs that are taken as they are.
    """
    bundle = read_bundle(path)
    if bundle in _loaded:
        return _loaded[_loaded.index(bundle)]
    if not bundle.is_current:
        raise LaunchError(_outdated(bundle))
    add_layer(bundle.entries)
    _loaded.insert(0, bundle)
    return bundle


def read_bundle(path: str | os.PathLike[str]) -> Bundle:
    """A bundle as it is in its file, every entry verified, whichever version made it."""
    place = Path(path)
    try:
        with place.open("rb") as file:
            return _read(place, file)
    except LaunchError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        cure = "give the path of a file that `tileproof compile -o` made"
        raise LaunchError(
            Diagnostic(Code.NO_FILE, f"the bundle `{place}` cannot be read", notes=(reason,), help=cure)
        ) from None
    except Exception as error:  # a damaged archive fails in a dozen ways, none of which says more than this
        raise LaunchError(_damaged(place, type(error).__name__)) from None


def _read(place: Path, file: BinaryIO) -> Bundle:
    if file.read(2) != b"PK":
        raise LaunchError(_rejected(place, "is not a bundle of compiled kernels"))
    file.seek(max(file.seek(0, os.SEEK_END) - _END.size, 0))
    is_long, end, directory, comment = _END.unpack(file.read())
    if is_long == b"PK\6\7" or end != b"PK\5\6" or directory > _LARGEST_DIRECTORY or comment:
        raise LaunchError(_damaged(place, "its end is missing, or lists more than a bundle may hold"))
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > _LARGEST:
            raise LaunchError(_damaged(place, f"it has more than {_LARGEST >> 20} MiB when unpacked"))
        manifest = _manifest(place, archive)
        entries = dict(_entry(place, archive, member) for member in members if member.filename != MANIFEST)
    kernels = tuple(_bundled_kernel(entry) for entry in manifest["kernels"])
    for kernel in kernels:
        if not entries.keys() >= {*kernel.proof, *kernel.codes.values()}:
            raise LaunchError(_damaged(place, f"the code of `{kernel.kernel}` is missing"))
    version, made_by, assembler = (str(manifest[name]) for name in ("tileproof", "fingerprint", "assembler"))
    return Bundle(place, version, made_by, assembler, kernels, entries)


def _manifest(place: Path, archive: zipfile.ZipFile) -> Mapping[str, Any]:
    is_there = MANIFEST in archive.namelist()
    if is_there and archive.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
        raise LaunchError(_damaged(place, "its manifest is larger than that of any bundle"))
    manifest = json.loads(_member_bytes(archive, archive.getinfo(MANIFEST))) if is_there else None
    if not isinstance(manifest, dict) or manifest.get("what") != _WHAT:
        raise LaunchError(_rejected(place, "is an archive, but not a bundle of compiled kernels"))
    if manifest["format"] != FORMAT:
        known = f"it has format {manifest['format']}, and this version of tileproof reads {FORMAT}"
        raise LaunchError(_rejected(place, "was made by another version of tileproof", known))
    return manifest


def _entry(place: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[str, bytes]:
    entry = parse_entry(_member_bytes(archive, member))
    if entry is None or file_of(entry[0]) != member.filename:
        raise LaunchError(_damaged(place, f"`{member.filename}` is not an entry of the kernel cache"))
    return entry


def _member_bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, and no more than it is said to have: a small stream may unpack to any length."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # what others unpack to has no bound
        raise zipfile.BadZipFile
    with archive.open(member) as file:
        return file.read(member.file_size)


def _bundled_kernel(entry: Mapping[str, Any]) -> BundledKernel:
    return BundledKernel(
        str(entry["kernel"]), str(entry["file"]), str(entry["shapes"]), dict(entry["constants"]), tuple(entry["proof"]),
        {str(arch): str(key) for arch, key in entry["codes"].items()},
    )  # fmt: skip


def pack(version: str, assembler: str, kernels: Iterable[BundledKernel], entries: Mapping[str, bytes]) -> bytes:
    """The bytes of a bundle, which are the same for the same content."""
    manifest = {
        "what": _WHAT, "format": FORMAT, "tileproof": version, "fingerprint": fingerprint(), "assembler": assembler,
        "kernels": [asdict(kernel) for kernel in kernels],
    }  # fmt: skip
    text = (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()
    members = {MANIFEST: text} | {file_of(key): entry_bytes(key, entries[key]) for key in sorted(entries)}
    size = sum(map(len, members.values()))
    if len(members) > _MOST or size > _LARGEST or len(text) > _LARGEST_MANIFEST:
        message = f"{len(entries)} entries of {size >> 20} MiB are more than a bundle may hold"
        raise LaunchError(Diagnostic(Code.BAD_BUNDLE, message, help="make several bundles, of fewer kernels each"))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
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
        forms = [kernel for kernel in bundle.kernels if proof in kernel.proof]
        archs = _in_order(known for form in forms for known in form.codes)
        if not forms:
            continue
        if arch not in archs:
            code, message = Code.WRONG_ARCH, f"`{kernel}` was compiled for {', '.join(archs)}, and this GPU is {arch}"
            note = f"it is in the bundle `{bundle.path}`"
            cure = f"compile it for this GPU too: {_command([forms[0]], (*archs, arch), bundle.path)}"
        else:
            code = Code.NO_ASSEMBLER
            message = f"`{kernel}` was compiled for arguments that lie otherwise, or for another schedule"
            note = f"the bundle `{bundle.path}` has it for {' and for '.join(map(_launch, forms))}"
            as_launched = "compile it with --shapes and --schedule as it is launched"
            cure = f"{as_launched}, or install the assembler: {missing.help}"
        return LaunchError(Diagnostic(code, message, notes=(note, missing.message), help=cure, kernel=kernel))
    names = ((bundle.path, ", ".join(sorted({one.kernel for one in bundle.kernels}))) for bundle in _loaded)
    contents = "; ".join(f"`{path}` has {kernels}" for path, kernels in names)
    note = f"no bundle has `{kernel}` as it is launched: {contents}"
    return LaunchError(Diagnostic(missing.code, missing.message, notes=(note, *missing.notes), help=missing.help))


def _in_order(archs: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(archs), key=lambda arch: (len(arch), arch)))


def _launch(form: BundledKernel) -> str:
    return ", ".join((form.shapes, *(f"{name}={value}" for name, value in form.constants.items())))


def _command(forms: Sequence[BundledKernel], archs: Sequence[str], path: Path) -> str:
    """How a bundle is made."""
    files = " ".join(dict.fromkeys(form.file for form in forms))
    return f"tileproof compile {files} --arch {','.join(archs)} -o {path.name}"


def _outdated(bundle: Bundle) -> Diagnostic:
    return Diagnostic(
        Code.BAD_BUNDLE,
        f"the bundle `{bundle.path}` was made by another version of tileproof",
        notes=(f"it was made by {bundle.version} ({bundle.fingerprint[:12]}), and this one is {fingerprint()[:12]}",),
        help=f"make it anew with this version: {_command(bundle.kernels, bundle.archs, bundle.path)}",
    )


def _rejected(place: Path, what: str, *notes: str) -> Diagnostic:
    cure = "make one with `tileproof compile FILE --arch sm_90 -o BUNDLE`"
    return Diagnostic(Code.BAD_BUNDLE, f"`{place}` {what}", notes=notes, help=cure)


def _damaged(place: Path, why: str) -> Diagnostic:
    cure = "copy it again, or make it anew with `tileproof compile`"
    return Diagnostic(Code.BAD_BUNDLE, f"the bundle `{place}` is damaged", notes=(why,), help=cure)
