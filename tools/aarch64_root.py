"""Makes `build/aarch64`: a Python for aarch64 with what tileproof needs, which runs under `qemu-aarch64`.

    apt-get install qemu-user && dpkg --add-architecture arm64 && apt-get update
    python tools/aarch64_root.py

The interpreter and its libraries are Debian's packages, the others wheels. `tests/test_aarch64.py` then runs examples,
kernels of the corpus and a step of the engine there. What is there already is kept.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1] / "build" / "aarch64"
PACKAGES: Final = (
    "python3.11", "python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libc6", "libexpat1", "zlib1g",
    "libssl3", "libffi8", "libsqlite3-0", "libbz2-1.0", "liblzma5", "libstdc++6", "libgcc-s1", "libuuid1",
)  # fmt: skip
WHEELS: Final = (
    "numpy", "ml_dtypes", "llvmlite>=0.45", "z3-solver<4.16", "safetensors", "tokenizers", "jinja2", "gguf",
)  # fmt: skip
"""Later releases of z3 have no wheel for this platform and Python."""
PLATFORMS: Final = ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")


def unpack_packages(debs: Path, into: Path) -> None:
    """Debian's packages, as files."""
    debs.mkdir(parents=True)
    subprocess.run(["apt-get", "download", *(f"{name}:arm64" for name in PACKAGES)], cwd=debs, check=True)
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg", "-x", deb, into], check=True)


def unpack_wheels(wheels: Path, into: Path) -> None:
    """Wheels, as files."""
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    what = ["--only-binary=:all:", *platforms, "--python-version", "3.11", "--dest", wheels]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *what, *WHEELS], check=True)
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(into)


def main() -> int:
    """Makes both parts; gives the exit code."""
    if shutil.which("dpkg") is None or shutil.which("apt-get") is None:
        print("this needs a Debian system: apt-get and dpkg are not on PATH", file=sys.stderr)
        return 2
    if not (ROOT / "root").is_dir():
        shutil.rmtree(ROOT / "debs", ignore_errors=True)
        unpack_packages(ROOT / "debs", ROOT / "made")
        (ROOT / "made").rename(ROOT / "root")
    if not (ROOT / "site").is_dir():
        unpack_wheels(ROOT / "wheels", ROOT / "unpacked")
        (ROOT / "unpacked").rename(ROOT / "site")
    print(f"{ROOT}: ready")
    return 0


if __name__ == "__main__":
    sys.exit(main())
