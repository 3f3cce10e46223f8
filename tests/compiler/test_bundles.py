"""Bundles: a launch they were made for needs no assembler and no prover, and nothing but such a bundle is used."""

from __future__ import annotations

import io
import json
import os
import random
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from oracles.tile_ir_operations import has_assembler
from support.source_files import load_file
from tileproof.backends.cuda.device.loaded_code import Code as MachineCode
from tileproof.cli.main import main
from tileproof.compiler import bundles, cache
from tileproof.compiler.bundles import Bundle, load_bundle, pack, read_bundle
from tileproof.compiler.cache import Cache, digest, entry_bytes, file_of, recorded
from tileproof.compiler.proofs import read_entry
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic
from tileproof.runtime.launch.ahead_of_time import Launch, plan_launch

pytestmark = pytest.mark.skipif(not has_assembler(), reason="the assembler is not installed")
TESTS = Path(__file__).resolve().parents[1]
KERNELS = '''
import numpy as np

import tileproof as tp
from tileproof import In, InOut, Out, f32, i32


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 256) -> None:
    for n in tp.parallel(N=B):
        y[n] = x[n] * 2


@tp.kernel
def put(cache: InOut[f32, "C"], new: In[f32, "N"], pos: In[i32, "1"]) -> None:
    """To prove that programs are apart takes the prover; that pos fits is checked on the GPU."""
    for n in tp.parallel(N=tp.each):
        cache[pos[0] + n] = new[n]


def arguments():
    y, x = np.empty(100, np.float32), np.ones(100, np.float32)
    cache, new, pos = np.empty(40, np.float32), np.ones(8, np.float32), np.zeros(1, np.int32)
    return {"double": ([y, x], {"B": 32}), "put": ([cache, new, pos], {})}
'''


def bundled(folder: Path, archs: str, name: str, *, seed: str = "0", cached: bool = True) -> Path:
    """Makes a bundle of the kernels in a folder, in a process of its own."""
    command = [sys.executable, "-m", "tileproof", "compile", "kernels.py", "--arch", archs, "-o", name]
    environment = {**os.environ, "PYTHONHASHSEED": seed} | ({} if cached else {"TILEPROOF_CACHE_DIR": "off"})
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kernels.py lies, and bundles of it."""
    result = tmp_path_factory.mktemp("bundles")
    (result / "kernels.py").write_text(KERNELS)
    return result


@pytest.fixture(scope="module")
def bundle(folder: Path) -> Path:
    """For a GPU of sm_90, and another."""
    return bundled(folder, "sm_80,sm_90", "kernels.tpb")


@pytest.fixture(autouse=True)
def _unloaded() -> Iterator[None]:
    """What a test loads, it loads for itself."""
    layers, loaded = list(cache._layers), list(bundles._loaded)
    yield
    cache._layers[:], bundles._loaded[:] = layers, loaded


def replayed(folder: Path, *bundle: Path) -> dict[str, Any]:
    """What comes of launches on a machine with a GPU and nothing to compile for it."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", ""))),
        "TILEPROOF_TILEIRAS": str(folder / "no" / "tileiras"),
        "TILEPROOF_CACHE_DIR": "off",
    }
    command = [sys.executable, str(TESTS / "samples" / "bundle_launches.py"), str(folder), *map(str, bundle)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    message: dict[str, Any] = json.loads(done.stdout)
    return message


def rejection(path: Path) -> Diagnostic:
    """What is wrong with a bundle."""
    with pytest.raises(tp.LaunchError) as caught:
        load_bundle(path)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.help
    return diagnostic


def code_in(bundle: Bundle, kernel: str, arch: str) -> MachineCode:
    (kept,) = (each for each in bundle.kernels if each.kernel == kernel)
    store = Cache(None, layers=[bundle.entries])
    code = read_entry(store, kept.codes[arch], ())
    assert isinstance(code, MachineCode)
    return code


# Launches.


@pytest.fixture(scope="module")
def told(folder: Path, bundle: Path) -> dict[str, Any]:
    """What comes of the launches with the bundle."""
    return replayed(folder, bundle)


def test_a_launch_from_a_bundle_needs_no_assembler(told: dict[str, Any], bundle: Path) -> None:
    assert told["bundle"] == "<bundle kernels.tpb: double, put for sm_80, sm_90>"
    assert (told["double"], told["put"], told["launches"]) == ("ok", "ok", 2)
    kept = read_bundle(bundle)
    assert told["code"] == [sha256(code_in(kept, name, "sm_90").cubin).hexdigest() for name in ("double", "put")]


def test_without_the_bundle_the_same_launches_need_it(folder: Path) -> None:
    told = replayed(folder)
    assert told["double"].startswith("TP0911 | TILEPROOF_TILEIRAS is ")
    assert told["put"].startswith("TP0911 | TILEPROOF_TILEIRAS is ")
    assert told["launches"] == 0


def test_a_launch_the_bundle_was_not_made_for_is_told_what_it_was_made_for(
    told: dict[str, Any], bundle: Path
) -> None:
    sizes, constants = told["other sizes"], told["other constants"]
    assert sizes.startswith("TP0911 | `double` was compiled for arguments that lie otherwise, or for another schedule")
    assert f"the bundle `{bundle}` has it for y=100:f32,x=100:f32, B=32 | " in sizes
    assert constants.startswith("TP0911 | TILEPROOF_TILEIRAS is ")
    assert f"no bundle has `double` as it is launched: `{bundle}` has double, put | " in constants


@pytest.mark.slow
def test_a_gpu_of_another_architecture_is_told_which_ones_there_are(folder: Path) -> None:
    message = replayed(folder, bundled(folder, "sm_80,sm_120", "old.tpb"))
    for name in ("double", "put"):
        text = f"{Code.WRONG_ARCH.id} | `{name}` was compiled for sm_80, sm_120, and this GPU is sm_90"
        assert message[name].startswith(text)
        assert message[name].endswith("tileproof compile kernels.py --arch sm_80,sm_120,sm_90 -o old.tpb")
    assert message["launches"] == 0


def test_an_entry_of_a_bundle_comes_before_that_of_the_folder(tmp_path: Path) -> None:
    key = digest("some")
    layers: list[dict[str, bytes]] = []
    store = Cache(tmp_path / "cache", layers=layers)
    store.put(key, b"folder")
    assert store.get(key) == b"folder"
    layers.append({key: b"bundle"})
    assert store.get(key) == b"bundle"
    assert Cache(tmp_path / "cache").get(key) == b"folder"


def test_the_cache_of_the_process_finds_what_a_bundle_brought(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", "off")
    kept = read_bundle(bundle)
    key = kept.kernels[0].proof[0]
    assert cache.default().get(key) is None
    loaded = load_bundle(bundle)
    assert cache.default().get(key) == kept.entries[key]
    assert load_bundle(str(bundle)) is loaded
    assert len(cache._layers) == 1


# What is in one.


def test_a_bundle_is_the_same_bytes_whoever_makes_it(folder: Path, bundle: Path) -> None:
    again = bundled(folder, "sm_80,sm_90", "again.tpb", seed="7", cached=False)
    assert again.read_bytes() == bundle.read_bytes()


def test_the_manifest_names_the_launches_and_the_entries_they_look_for(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        members = set(archive.namelist())
    double, put = manifest["kernels"]
    assert (manifest["what"], manifest["format"], manifest["assembler"][:3]) == ("tileproof bundle", 2, "13.")
    assert (double["file"], double["shapes"], double["constants"]) == ("kernels.py", "y=100:f32,x=100:f32", {"B": 32})
    assert set(double["codes"]) == set(put["codes"]) == {"sm_80", "sm_90"}
    keys = {key for each in (double, put) for key in (*each["proof"], *each["codes"].values())}
    assert members == {"manifest.json", *map(file_of, keys)}


def test_the_members_of_a_bundle_are_files_of_the_cache(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "cache")
    store = Cache(tmp_path / "cache")
    entries = read_bundle(bundle).entries
    assert {key: store.get(key) for key in entries} == entries


def test_no_place_of_the_machine_that_made_it_is_in_a_bundle(folder: Path, bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        texts = [archive.read(name) for name in archive.namelist()]
    assert not any(str(folder).encode() in text for text in texts)


def test_what_a_launch_reads_and_writes_in_the_cache_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "recorded.py"
    path.write_text(KERNELS)
    records = []
    for turn in range(2):  # proved, and found
        kernel = load_file(path, f"recorded_{turn}").double
        with recorded() as seen:
            args = [np.empty(8, np.float32), np.ones(8, np.float32)]
            plan = plan_launch(Launch("double", kernel, args, {}), ["sm_90"])
        records.append(dict(seen))
        assert plan.proof == seen
        assert plan.proved.key in seen
    assert records[0] == records[1]
    assert cache._records == []


# What is rejected.


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert rejection(tmp_path / "none.tpb").code is Code.NO_FILE
    assert rejection(tmp_path).code is Code.NO_FILE


def archive_of(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_json", ".json"), data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a bundle of compiled kernels"),
        (b"import tileproof as tp\n", "is not a bundle of compiled kernels"),
        (b"\x7fELF" + bytes(100), "is not a bundle of compiled kernels"),
        (archive_of(readme=b"hello"), "is an archive, but not a bundle of compiled kernels"),
        (archive_of(manifest_json=b"{}"), "is an archive, but not a bundle of compiled kernels"),
        (archive_of(manifest_json=b"[]"), "is an archive, but not a bundle of compiled kernels"),
        (archive_of(manifest_json=b"not json"), "is damaged"),
        (archive_of(manifest_json=b'{"what": "tileproof bundle", "format": 99}'), "by another version of tileproof"),
        (archive_of(manifest_json=b'{"what": "tileproof bundle", "format": 2}'), "is damaged"),
        (archive_of(manifest_json=b"[" * 100_000), "is damaged"),
        (archive_of(manifest_json=b'{"what": "tileproof bundle", "format": 2, "kernels": [5]}'), "is damaged"),
        (b"PK", "is damaged"),
        (b"PK" + bytes(1000), "is damaged"),
    ],
)
def test_a_foreign_file_is_told_from_a_bundle(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "foreign.tpb"
    path.write_bytes(data)
    diagnostic = rejection(path)
    assert (diagnostic.code, message in diagnostic.message) == (Code.BAD_BUNDLE, True), diagnostic.message
    assert cache._layers == []


def test_a_bundle_of_another_version_says_how_to_make_it_anew(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "fingerprint", lambda: "f" * 64)
    diagnostic = rejection(bundle)
    assert (diagnostic.code, cache._layers) == (Code.BAD_BUNDLE, [])
    assert diagnostic.message == f"the bundle `{bundle}` was made by another version of tileproof"
    assert "and this one is ffffffffffff" in diagnostic.notes[0]
    assert diagnostic.help.endswith("tileproof compile kernels.py --arch sm_80,sm_90 -o kernels.tpb")
    assert not read_bundle(bundle).is_current


def test_a_bundle_of_another_version_can_be_listed(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bundles, "fingerprint", lambda: "f" * 64)
    assert main(["compile", "--list", str(bundle)]) == 0
    assert "\nit serves another version of tileproof than this one: " in capsys.readouterr().out


def test_a_changed_byte_is_found_or_changes_nothing(bundle: Path, tmp_path: Path) -> None:
    whole, kept = bundle.read_bytes(), read_bundle(bundle)
    path = tmp_path / "changed.tpb"
    rng = random.Random(0)
    diagnostic = 0
    for _ in range(300):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            read = read_bundle(path)
        except tp.LaunchError as error:
            diagnostic += error.diagnostics[0].code is Code.BAD_BUNDLE
        else:  # the archive says some things twice, and some that nobody reads
            assert (read.entries, read.kernels, read.fingerprint) == (kept.entries, kept.kernels, kept.fingerprint)
    assert diagnostic > 200


@pytest.mark.parametrize("part", [0.01, 0.3, 0.9, 0.999])
def test_a_bundle_that_was_cut_off_is_damaged(bundle: Path, tmp_path: Path, part: float) -> None:
    data = bundle.read_bytes()
    path = tmp_path / "cut.tpb"
    path.write_bytes(data[: int(len(data) * part)])
    assert rejection(path).code is Code.BAD_BUNDLE


def repacked(bundle: Path, tmp_path: Path, change: Any) -> Path:
    """The bundle with other members, all sums of the archive right."""
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    path = tmp_path / "repacked.tpb"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_an_entry_that_was_replaced_is_found_by_its_checksum(bundle: Path, tmp_path: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        name = next(name for name in members if name.endswith(".tpk"))
        members[name] = members[name][:-1] + bytes([members[name][-1] ^ 1])

    diagnostic = rejection(repacked(bundle, tmp_path, change))
    assert (diagnostic.code, "is not an entry of the kernel cache" in diagnostic.notes[0]) == (Code.BAD_BUNDLE, True)
    assert cache._layers == []


@pytest.mark.parametrize("name", ["notes.txt", "../../x.tpk", "entries/" + digest("other"), file_of(digest("other"))])
def test_what_is_no_entry_under_its_own_name_is_refused(bundle: Path, tmp_path: Path, name: str) -> None:
    for content in (b"", b"x" * 200, entry_bytes(digest("one"), b"x")):
        path = repacked(bundle, tmp_path, lambda members, data=content: members.update({name: data}))
        assert rejection(path).notes == (f"`{name}` is not an entry of the kernel cache",)


def test_a_kernel_without_its_code_is_refused(bundle: Path, tmp_path: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["manifest.json"])
        del members[file_of(manifest["kernels"][0]["codes"]["sm_90"])]

    assert rejection(repacked(bundle, tmp_path, change)).notes == ("the code of `double` is missing",)


# What would take all memory.


def bomb(tmp_path: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """An archive whose members unpack to far more than they take."""
    path = tmp_path / "bomb.tpb"
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def memory_of(path: Path) -> tuple[int, str]:
    """How many bytes reading a bundle takes at most, and why it is rejected."""
    tracemalloc.start()
    try:
        diagnostic = rejection(path)
        return tracemalloc.get_traced_memory()[1], diagnostic.notes[0]
    finally:
        tracemalloc.stop()


def test_a_manifest_that_is_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    peak, why = memory_of(bomb(tmp_path, ("manifest.json", b" " * (100 << 20))))
    assert (why, peak < 10 << 20) == ("its manifest is larger than that of any bundle", True)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["manifest.json", file_of(digest("one"))])
def test_a_member_that_unpacks_to_more_than_is_said_is_cut_off(tmp_path: Path, name: str) -> None:
    members = {"manifest.json": b'{"what": "tileproof bundle", "format": 2}', name: b" " * (200 << 20)}
    path = bomb(tmp_path, *members.items())
    data = path.read_bytes()
    assert len(data) < 1 << 20
    path.write_bytes(data.replace(struct.pack("<I", 200 << 20), struct.pack("<I", 1000)))
    peak, _ = memory_of(path)
    assert peak < 10 << 20


def test_members_that_claim_more_than_a_bundle_holds_are_refused(tmp_path: Path) -> None:
    path = bomb(tmp_path, ("manifest.json", b'{"what": "tileproof bundle", "format": 2}'), ("a", b" " * 1000))
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", 1000), struct.pack("<I", 0x7FFFFFFF)))
    peak, why = memory_of(path)
    assert (why, peak < 10 << 20) == ("it has more than 1024 MiB when unpacked", True)


def test_a_way_to_compress_whose_output_has_no_bound_is_refused(tmp_path: Path) -> None:
    path = bomb(tmp_path, ("manifest.json", b" " * (4 << 20)), method=zipfile.ZIP_LZMA)
    assert memory_of(path) == (pytest.approx(0, abs=4 << 20), "BadZipFile")


@pytest.mark.slow
def test_a_list_of_members_beyond_any_bundle_is_not_read(tmp_path: Path) -> None:
    many = bomb(tmp_path, *((f"{number:0200d}", b"") for number in range(40_000)))
    peak, why = memory_of(many)
    assert (why.startswith("its end is missing, or lists more"), peak < 1 << 20) == (True, True)
    longer = bomb(tmp_path, *((str(number), b"") for number in range(66_000)))  # which makes it a 64-bit archive
    peak, why = memory_of(longer)
    assert (why.startswith("its end is missing, or lists more"), peak < 1 << 20) == (True, True)


def test_a_large_file_that_is_no_bundle_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.tpb"
    path.write_bytes(b"PK")
    os.truncate(path, 1 << 40)  # a hole: it takes no room
    peak, _ = memory_of(path)
    assert peak < 1 << 20


def test_more_than_a_bundle_may_hold_is_not_packed() -> None:
    with pytest.raises(tp.LaunchError, match="more than a bundle may hold"):
        pack("1.0", "13.4", [], {digest(number): b"" for number in range(65_535)})


def test_a_bundle_holds_any_entries(tmp_path: Path) -> None:
    entries = {digest(number): bytes([number]) * number for number in range(20)}
    path = tmp_path / "many.tpb"
    path.write_bytes(pack("1.0", "13.4", [], entries))
    read = load_bundle(path)
    assert (read.entries, read.version, read.archs, read.kernels) == (entries, "1.0", (), ())
