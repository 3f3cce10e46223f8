"""torch tensors in launches like an earlier one, through DLPack's exchange API where torch has it."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oracles.recording_driver import Driver, plan_of, plans_of
from tileproof.runtime import native as fast
from tileproof.runtime.native import Plans, readers

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.slow

Launch = Callable[[Plans, tuple[Any, ...]], bool]


@pytest.fixture
def launch() -> Launch:
    return fast.launch


def tensors(*shape: int, count: int = 3) -> tuple[Any, ...]:
    return tuple(torch.zeros(shape) for _ in range(count))


def plans_for(args: tuple[Any, ...], driver: Driver | None = None, **changes: Any) -> Plans:
    """Plans of a launch of CPU tensors."""
    arguments = tuple(arg.detach().numpy() if isinstance(arg, torch.Tensor) else arg for arg in args)
    return plans_of(plan_of(arguments, driver, **{"stream": None, **changes}))


def test_the_driver_gets_the_addresses_of_tensors(launch: Launch) -> None:
    args, driver = (*tensors(4, 8), 0.5), Driver()
    plans = plans_for(args, driver)
    others = (*tensors(4, 8), 0.5)
    assert launch(plans, others)
    assert driver.latest.words[1:4] == tuple(other.data_ptr() for other in others[:3])
    assert driver.latest.stream == 0


def test_this_torch_is_read_natively() -> None:
    launched = plans_for(tensors(4))
    assert fast.launch(launched, tensors(4))
    if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        assert "exchange API 1." in fast.available()


def test_arrays_and_tensors_are_told_apart_by_memory_alone(launch: Launch) -> None:
    memory = np.zeros(64, np.float32)
    plans = plans_for(tensors(8, count=2))
    assert launch(plans, (memory[:8], torch.from_numpy(memory[8:16])))
    assert not launch(plans, (memory[:8], torch.from_numpy(memory[7:15])))


def test_views_steps_and_axes(launch: Launch) -> None:
    def view() -> Any:
        return torch.zeros(6, 10)[::2, 1:].T

    plans = plans_for((view(), view()))
    assert launch(plans, (view(), view()))
    assert not launch(plans, (view().contiguous(), view()))
    assert not launch(plans, (view(), torch.zeros(9, 1).expand(9, 3)))


@pytest.mark.parametrize("shape", [(1, 8), (8, 1), (1,), (), (0, 3)])
def test_axes_without_a_second_element_do_not_matter(launch: Launch, shape: tuple[int, ...]) -> None:
    assert launch(plans_for(tensors(*shape)), tensors(*shape))


@pytest.mark.parametrize("name", sorted(readers._NAMES.values()))
def test_every_element_type_has_the_code_that_torch_gives_it(name: str) -> None:
    kind = getattr(torch, name)
    array = torch.zeros(3, dtype=torch.uint8).view(kind) if kind.itemsize == 1 else torch.zeros(3, dtype=kind)
    result = readers.torch()
    assert result is not None
    expected = readers.see(array)
    assert expected is not None
    for reader in readers.known():
        if reader.type is torch.Tensor and reader.exchange:
            message = (ctypes.c_uint32 * 12)()
            describe = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(reader.exchange)
            assert describe(array, ctypes.addressof(message)) == 0
            assert message[5] == expected.element


def test_a_plan_with_a_stream_of_its_own_takes_no_tensors_of_torch(launch: Launch) -> None:
    args = tensors(4)
    plans = plans_for(args, stream=0)
    assert not launch(plans, args)
    assert launch(plans, tuple(arg.numpy() for arg in args))


def test_parameters_are_tensors_and_other_subclasses_are_not(launch: Launch) -> None:
    class Other(torch.Tensor):  # type: ignore[misc]
        pass

    y, x, z = tensors(4)
    plans = plans_for((y, x, z))
    assert launch(plans, (y, torch.nn.Parameter(x), z))
    assert not launch(plans, (y, x.as_subclass(Other), z))


def test_what_is_written_does_not_take_part_in_gradients(launch: Launch) -> None:
    y, x, z = tensors(4)
    plans = plans_for((y, x, z))
    leaf = torch.zeros(4, requires_grad=True)
    assert launch(plans, (y, leaf, z))
    assert not launch(plans, (leaf, x, z))
    assert not launch(plans, (torch.nn.Parameter(y), x, z))
    assert not launch(plans, (leaf * 2, x, z))
    with torch.no_grad():
        assert launch(plans, (leaf, x, z))
    with torch.inference_mode():
        assert launch(plans, (leaf, x, z))


def test_tensors_that_are_stored_negated_or_conjugated(launch: Launch) -> None:
    complex_ones = torch.zeros(4, dtype=torch.complex64)
    plain, negated = complex_ones.imag, complex_ones.conj().imag
    plans = plans_for((torch.zeros(4), plain))
    assert launch(plans, (torch.zeros(4), plain))
    assert negated.is_neg()
    assert not launch(plans, (torch.zeros(4), negated))
    single = torch.zeros(1, dtype=torch.complex64).conj().imag
    alone = plans_for((torch.zeros(4), torch.zeros(1)))
    assert launch(alone, (torch.zeros(4), torch.zeros(1)))
    assert not launch(alone, (torch.zeros(4), single))
    assert not launch(plans, (torch.zeros(4), complex_ones.conj()))


def emptied(start: int) -> Any:
    tensor = torch.zeros(8)[start : start + 4]
    tensor.untyped_storage().resize_(0)
    return tensor


ODD: dict[str, Callable[[], Any]] = {
    "no memory": lambda: torch.zeros(4, device="meta"),
    "sparse": lambda: torch.zeros(4).to_sparse(),
    "quantized": lambda: torch.quantize_per_tensor(torch.zeros(4), 1.0, 0, torch.qint32),
    "memory given back": lambda: emptied(0),
    "the end of memory given back": lambda: emptied(4),
    "nested": lambda: torch.nested.nested_tensor([torch.zeros(4)]),
    "another layout": lambda: torch.zeros(4).to_mkldnn() if torch.backends.mkldnn.is_available() else None,
}
"""Tensors of the plain type whose memory is not what it seems."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ODD)
def test_odd_tensors_are_left_to_the_full_launch(launch: Launch, name: str) -> None:
    odd = ODD[name]()
    driver = Driver()
    plans = plans_for(tensors(4), driver)
    y, x, _ = tensors(4)
    assert not launch(plans, (y, x, odd))
    assert not launch(plans, (odd, x, y))
    assert driver.calls == 0
    assert launch(plans, tensors(4))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("transform", ["grad", "vmap", "functionalize", "jvp"])
def test_tensors_inside_transforms_are_left_to_the_full_launch(launch: Launch, transform: str) -> None:
    driver = Driver()
    y, x, _ = tensors(4)
    plans = plans_for((y, x), driver)
    went: list[bool] = []

    def inside(values: Any) -> Any:
        went.append(launch(plans, (y, values)))
        return values.sum()

    match transform:
        case "grad":
            torch.func.grad(inside)(x)
        case "vmap":
            torch.func.vmap(inside)(torch.zeros(4, 4))
        case "functionalize":
            torch.func.functionalize(inside)(x)
        case _:
            torch.func.jvp(inside, (x,), (x,))
    assert went == [False]
    assert launch(plans, (y, x))


def test_a_mode_that_sees_every_function_changes_nothing(launch: Launch) -> None:
    """Python code runs while torch is asked, also code that throws the plans away."""
    from torch.overrides import TorchFunctionMode

    args, driver = tensors(4), Driver()
    plans = plans_for(args, driver)

    class Watch(TorchFunctionMode):  # type: ignore[misc]
        clears = False

        def __torch_function__(self, function: Any, types: Any, values: Any = (), named: Any = None) -> Any:
            if self.clears:
                plans.clear()
            return function(*values, **(named or {}))

    kept = plans._table
    with Watch() as mode:
        assert launch(plans, args)
        mode.clears = True
        assert not launch(plans, args)
    assert driver.calls == 1
    assert kept[0] not in plans._table


def test_a_tensor_that_changed_is_seen_as_it_is_now(launch: Launch) -> None:
    args, driver = tensors(4), Driver()
    plans = plans_for(args, driver)
    assert launch(plans, args)
    args[1].data = torch.zeros(8)[4:]
    assert launch(plans, args)
    assert driver.latest.words[2] == args[1].data_ptr()
    args[1].data = torch.zeros(5)
    assert not launch(plans, args)
    args[1].data = args[0]
    assert not launch(plans, args)


def test_no_reference_is_lost_or_kept() -> None:
    args = (*tensors(4), torch.nn.Parameter(torch.zeros(4)))
    plans = plans_for(args)
    launch = fast.launch
    watched = [*args, args, torch.Tensor, True, False, plans._table]
    for arguments, goes, turns in ((args, True, 20_000), ((*args[:3], torch.zeros(4).to_sparse()), False, 200)):
        assert launch(plans, arguments) is goes
        before = [sys.getrefcount(each) for each in watched]
        for _ in range(turns):
            launch(plans, arguments)
        changes = [sys.getrefcount(each) - count for each, count in zip(watched, before, strict=True)]
        assert all(abs(change) < 50 for change in changes), changes


# Where torch has no exchange API, or another.


class Old:
    """A torch whose type of tensors tells of its table in some way."""

    def __init__(self, **attributes: Any) -> None:
        self.Tensor = type("Tensor", (), attributes)
        self.nn = types.SimpleNamespace(Parameter=type("Parameter", (self.Tensor,), {}))


def table(major: int, older: int = 0, describe: int = 8) -> Any:
    return readers._Table(major=major, minor=3, older=older, describe=describe, current_stream=16)


def test_the_table_is_found_by_a_number_and_through_newer_ones() -> None:
    good = table(1)
    newer = table(2, ctypes.addressof(good))
    for address in (ctypes.addressof(good), ctypes.addressof(newer)):
        result = readers.find(Old(__c_dlpack_exchange_api__=address))
        assert result is not None
        assert (result.exchange, result.stream, result.version) == (8, 16, "1.3")


@pytest.mark.parametrize("attributes", [
    {}, {"__c_dlpack_exchange_api__": 0}, {"__c_dlpack_exchange_api__": 12345}, {"__dlpack_c_exchange_api__": "text"},
])  # fmt: skip
def test_without_a_table_tensors_are_read_in_python(attributes: dict[str, Any]) -> None:
    result = readers.find(Old(**attributes))
    assert result is not None
    assert (result.exchange, result.stream) == (0, 0)
    assert "no DLPack exchange API" in result.version


def test_tables_that_are_of_no_use() -> None:
    newer, silent = table(2), table(1, describe=0)
    for unused in (newer, silent):
        result = readers.find(Old(__c_dlpack_exchange_api__=ctypes.addressof(unused)))
        assert result is not None
        assert result.exchange == 0


def test_a_torch_that_is_being_loaded_is_met_later() -> None:
    assert readers.find(types.SimpleNamespace()) is None


def test_a_transform_is_no_place_to_judge_torch() -> None:
    """In a process of its own: torch is met once, but not inside a transform, where no sample of it can be read."""
    script = """
import torch
from tileproof.runtime import native as fast
torch.func.grad(lambda x: (fast.available(), x.sum())[1])(torch.zeros(4))
print(fast.available())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"{fast.available()}\n"


def test_tensors_of_a_torch_without_an_exchange_api_take_the_full_launch() -> None:
    """In a process of its own: torch is met once."""
    script = """
import sys
sys.path.insert(0, "tests")
import torch
from tileproof.runtime.native import readers
readers._table_of = lambda kind: None
from tileproof.runtime import native as fast
from oracles.recording_driver import Driver, plan_of, plans_of
from samples.host_kernels import add
args, driver = tuple(torch.zeros(4) for _ in range(3)), Driver()
plans = plans_of(plan_of(tuple(each.numpy() for each in args), driver, stream=None))
assert fast.launch(plans, args) is False and fast.match(plans, args) is None
for turn in range(3):
    args[1][:] = turn
    add(*args)
    assert args[0].tolist() == [turn] * 4
assert type(fast.launch).__name__ == "builtin_function_or_method"
print(fast.available())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "native, but for torch tensors: this version of torch has no DLPack exchange API\n"
