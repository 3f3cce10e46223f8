"""The machine that figures are of: its name as a folder, and what the figures depend on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from tileproof.backends.cpu import llvm
from tileproof.backends.cpu.device.pool import cores
from tileproof.backends.cpu.target import host

_NOISE: Final = ("nvidia", "geforce", "intel", "amd", "r", "tm", "cpu", "processor", "with", "core")


def slug_of(name: str, prefix: str = "") -> str:
    """A device as the name of a folder: "NVIDIA H200" is `h200`; a processor gets a prefix."""
    plain = re.sub(r"\b\d+-core\b|\b[\d.]+ghz\b", " ", name.lower())
    words = [word.replace(".", "-").strip("-") for word in re.findall(r"[a-z0-9.]+", plain) if word not in _NOISE]
    return "-".join(filter(None, (prefix, *words))) or "unknown"


def cpu_slug() -> str:
    """The folder of this machine's processor."""
    return slug_of(processor(), "cpu")


def processor() -> str:
    """The processor, as the system names it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def cpu_machine(*packages: str) -> dict[str, str]:
    """What figures of this processor depend on, with versions of packages."""
    caches = host().caches
    return {
        "processor": processor(),
        "code for": f"{host().name}, {host().lanes} lanes of f32",
        "cores": str(cores()),
        "caches": f"L1 {caches.l1 >> 10} KB, L2 {caches.l2 >> 10} KB, L3 {caches.l3 >> 20} MB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "LLVM": llvm.version(),
        **{name: version(name) for name in ("numpy", *packages)},
        "load average": ", ".join(f"{each:.2f}" for each in os.getloadavg()),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def gpu_machine(torch: Any, *packages: str) -> dict[str, str]:
    """What figures of the GPU depend on, with versions of packages."""
    properties = torch.cuda.get_device_properties(0)
    about = "driver_version,clocks.sm,clocks.mem,power.draw,temperature.gpu"
    return {
        "GPU": f"{properties.name}, {properties.multi_processor_count} multiprocessors",
        "driver, clocks, power, temperature": nvidia_smi(about),
        "torch": f"{torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}",
        **{name: version(name) for name in ("triton", *packages, "tileproof")},
        "Python": platform.python_version(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def nvidia_smi(fields: str) -> str:
    """Fields that the driver's tool reports of the first GPU."""
    command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"


def version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def device_of(run: dict[str, str] | Any) -> str:
    """The device that a run is of."""
    return str(run.get("GPU") or run.get("processor") or "").partition(",")[0]
