"""Launches every example once, for a tool that watches over memory:

    compute-sanitizer --tool memcheck python3 tests/gpu/sanitize.py [GROUP...]

The groups are those of `launches.py`; without any, the examples. Where kernels come from a folder, TILEPROOF_CACHE_DIR
names it. Results are not compared: tests do that.
"""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_TESTS.parent / "src"), str(_TESTS)]

from launches import groups  # noqa: E402

import tileproof as tp  # noqa: E402
from support.device_arrays import DeviceArray, to_gpu  # noqa: E402


def main() -> int:
    chosen = sys.argv[1:] or ["examples"]
    failed = 0
    for group in chosen:
        for name, make in groups()[group].items():
            kernel, given, constants = make()
            arrays = to_gpu(given)
            try:
                with tp.backend("cuda"):
                    kernel(*arrays, **constants)
                for array in arrays:
                    if isinstance(array, DeviceArray):
                        array.assert_rest_is_kept()
            except (AssertionError, tp.TileproofError) as error:
                failed += 1
                print(f"{group}: {name}: {error}", flush=True)
            else:
                print(f"{group}: {name}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
