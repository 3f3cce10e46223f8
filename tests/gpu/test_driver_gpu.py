"""The CUDA driver, called for real: what the stand-in of the other tests promises."""

from __future__ import annotations

import ctypes
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from samples.gpu_kernels import FOREIGN, NUMBERING, code, number
from tileproof.backends.cuda.device import driver
from tileproof.backends.cuda.device.driver import Device, Event, Function, Memory, launch, load, place_of
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError

pytestmark = pytest.mark.gpu
TESTS = str(Path(__file__).resolve().parents[1])
Alone = Callable[[str], str]


@pytest.fixture
def numbering() -> Function:
    return load(code(NUMBERING)).function("numbering")


def numbers(gpu: Device, address: int, count: int, stream: int = 0) -> list[int]:
    return gpu.copy_to_host(address, 4 * count, stream).view(np.uint32).tolist()


def test_a_gpu_says_what_it_is(gpu: Device) -> None:
    assert "NVIDIA" in gpu.name or "Tesla" in gpu.name
    assert re.fullmatch(r"sm_\d{2,3}", gpu.arch)
    assert gpu.sm_count > 0
    assert 0 < gpu.memory_info()[0] <= gpu.total_memory
    assert float(driver.version()) >= 13.0
    assert driver.entry_point("cuLaunchKernelEx") != driver.entry_point("cuLaunchKernel")


def test_a_gpu_that_does_not_exist_is_refused() -> None:
    with pytest.raises(LaunchError) as raised:
        Device(driver.device_count())
    assert raised.value.diagnostics[0].code is Code.NO_GPU


def test_bytes_come_back_as_they_were_sent(gpu: Device) -> None:
    sent = np.random.default_rng(1).integers(0, 256, 3 << 20, np.uint8)
    address = gpu.allocate(sent.nbytes)
    gpu.copy_from_host(address, sent, 0)
    gpu.memset_async(address + 5, 7, 1000, 0)
    back = gpu.copy_to_host(address, sent.nbytes, 0)
    gpu.free(address)
    sent[5:1005] = 7
    assert (back == sent).all()


def test_memory_of_a_stream_can_be_used_on_it(gpu: Device) -> None:
    stream = gpu.make_stream()
    address = gpu.allocate_async(1 << 20, stream)
    gpu.memset_async(address, 3, 1 << 20, stream)
    back = gpu.copy_to_host(address, 1 << 20, stream)
    gpu.free_async(address, stream)
    gpu.synchronize(stream)
    gpu.end_stream(stream)
    assert (back == 3).all()


def test_an_address_has_a_place(gpu: Device) -> None:
    api = driver._driver().api
    own, inside = gpu.allocate(1024), 512
    assert place_of(own + inside) == driver.Place(Memory.DEVICE, 0)
    gpu.free(own)
    with gpu.current():
        _, managed = api.cuMemAllocManaged(1024, api.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
        _, pinned = api.cuMemHostAlloc(1024, 0)
    assert place_of(int(managed)).memory is Memory.MANAGED
    assert place_of(int(pinned)).memory is Memory.HOST
    with gpu.current():
        api.cuMemFree(managed)
        api.cuMemFreeHost(pinned)
    assert place_of(np.zeros(4096).ctypes.data).memory is Memory.UNKNOWN
    assert place_of(own).memory is Memory.UNKNOWN


def test_more_memory_than_there_is_is_refused_and_less_still_given(gpu: Device) -> None:
    for take in (gpu.allocate, lambda count: gpu.allocate_async(count, 0)):
        with pytest.raises(LaunchError) as raised:
            take(2 * gpu.total_memory)
        (found,) = raised.value.diagnostics
        assert found.code is Code.OUT_OF_DEVICE_MEMORY
        assert driver.in_words(2 * gpu.total_memory) in found.message
        assert "are free" in found.notes[0]
    gpu.free(gpu.allocate(1 << 20))


def test_a_kernel_runs_on_a_grid_with_its_arguments(gpu: Device, numbering: Function) -> None:
    address = gpu.allocate(4 * 12)
    number(numbering, (4, 3, 1), 0, address, 100)
    assert numbers(gpu, address, 12) == list(range(100, 112))
    number(numbering, (4, 0, 1), 0, address, 0)
    number(numbering, (6, 1, 1), 0, address, 7, early=True)
    assert numbers(gpu, address, 7) == [7, 8, 9, 10, 11, 12, 106]
    gpu.free(address)


def test_threads_launch_one_kernel_on_streams_of_their_own(gpu: Device, numbering: Function) -> None:
    found: dict[int, list[int]] = {}

    def work(turn: int) -> None:
        stream = gpu.make_stream()
        address = gpu.allocate_async(4 * 8, stream)
        for round_ in range(20):
            number(numbering, (8, 1, 1), stream, address, turn * 1000 + round_)
        found[turn] = numbers(gpu, address, 8, stream)
        gpu.free_async(address, stream)
        gpu.synchronize(stream)
        gpu.end_stream(stream)

    threads = [threading.Thread(target=work, args=(turn,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {turn: [turn * 1000 + 19 + each for each in range(8)] for turn in range(4)}


def test_a_stream_waits_for_another_and_events_tell_the_time(gpu: Device, numbering: Function) -> None:
    first, second = gpu.make_stream(), gpu.make_stream()
    address = gpu.allocate(64 << 20)
    start, end, order = Event(gpu, is_timed=True), Event(gpu, is_timed=True), Event(gpu)
    start.record(first)
    for value in range(50):
        gpu.memset_async(address, value, 64 << 20, first)
    order.record(first)
    order.wait_on(second)
    number(numbering, (4, 1, 1), second, address, 0)
    end.record(second)
    end.synchronize()
    assert end.is_done
    assert order.is_done
    assert end.milliseconds_since(start) >= 0
    assert numbers(gpu, address, 5, second) == [0, 1, 2, 3, 0x31313131]
    gpu.free(address)
    for stream in (first, second):
        gpu.end_stream(stream)


@pytest.mark.parametrize("image", [b"no code at all\0", code(FOREIGN)], ids=["nonsense", "another GPU's"])
def test_code_that_the_gpu_cannot_run_is_refused_when_it_is_loaded(gpu: Device, image: bytes) -> None:
    with pytest.raises(LaunchError) as raised:
        load(image).function("numbering")
    (found,) = raised.value.diagnostics
    assert found.code is Code.WRONG_ARCH
    assert gpu.arch in found.message
    load(code(NUMBERING)).function("numbering")


def test_a_kernel_that_is_not_there_is_named(gpu: Device) -> None:
    with pytest.raises(LaunchError, match="`missing`"):
        load(code(NUMBERING)).function("missing")


def test_tile_ir_runs_when_there_is_an_assembler(gpu: Device) -> None:
    from tileproof.backends.cuda.assembler.assemble import Job, assemble
    from tileproof.backends.cuda.tileir.builder import Builder
    from tileproof.backends.cuda.tileir.encode import encode
    from tileproof.backends.cuda.tileir.types import Module

    builder = Builder("nothing", [])
    builder.return_()
    try:
        cubin = assemble(Job(encode(Module([builder.entry])), gpu.arch)).cubin
    except LaunchError as error:
        pytest.skip(f"no assembler: {error.diagnostics[0].message}")
    function = load(cubin).function("nothing")
    launch(function, (5, 1, 1), 0, 0)
    gpu.synchronize(0)


def test_an_illegal_address_loses_the_context_and_says_so(alone: Alone) -> None:
    printed = alone(f"""
        import sys
        sys.path.insert(0, {TESTS!r})
        from samples.gpu_kernels import STRAYING, code
        from tileproof.backends.cuda.device.driver import Device, Event, launch, load, lost
        from tileproof.diagnostics.codes import Code
        from tileproof.diagnostics.errors import LaunchError
        event, address = Event(Device(0)), Device(0).allocate(16)
        assert lost() is None
        launch(load(code(STRAYING)).function("straying"), (1, 1, 1), 0, 0)
        for call in (lambda: Device(0).synchronize(0), lambda: Device(0).allocate(16)):
            try:
                call()
            except LaunchError as error:
                found = error.diagnostics[0]
                assert found.code is Code.CUDA_FAILED, found
                print(found.message, found.notes, found.help)
        assert lost() is not None
        Device(0).free(address)
        del event
        print("ended")
    """)
    assert printed.endswith("ended\n")
    assert printed.count("the context is lost: restart the process") == 2
    assert printed.count("the CUDA context was lost earlier") == 1
    assert printed.count("CUDA_ERROR_ILLEGAL_ADDRESS") == 2
    assert "launched last: `straying`" in printed


def test_a_forked_process_is_told_to_start_anew(alone: Alone) -> None:
    printed = alone("""
        import os
        from tileproof.backends.cuda.device.driver import Device
        from tileproof.diagnostics.errors import LaunchError
        Device(0).free(Device(0).allocate(16))
        if not os.fork():
            try:
                Device(0).allocate(16)
            except LaunchError as error:
                print(error.diagnostics[0].notes, error.diagnostics[0].help, flush=True)
            os._exit(0)
        os.wait()
    """)
    assert "forked" in printed
    assert "spawn" in printed


def test_hidden_gpus_are_not_there(alone: Alone) -> None:
    printed = alone("""
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        from tileproof.backends.cuda.device.driver import Device, device_count
        from tileproof.diagnostics.errors import LaunchError
        print(device_count())
        try:
            Device(0)
        except LaunchError as error:
            print(error.diagnostics[0].code.id, error.diagnostics[0].notes)
    """)
    assert printed.startswith("0\nTP0621")
    assert "CUDA_VISIBLE_DEVICES" in printed


def test_nothing_of_torch_is_needed(alone: Alone) -> None:
    printed = alone(f"""
        import sys
        sys.modules["torch"] = sys.modules["cupy"] = None  # importing them fails
        sys.path.insert(0, {TESTS!r})
        import numpy as np
        from samples.gpu_kernels import NUMBERING, code, number
        from tileproof.backends.cuda.device.driver import load
        from support.device_buffers import to_device
        from tileproof.runtime.interop.describe import current_stream
        buffer = to_device(np.zeros(6, np.int32))
        function = load(code(NUMBERING)).function("numbering")
        number(function, (5, 1, 1), current_stream(0), buffer.address, 3)
        print(buffer.numpy().tolist())
    """)
    assert printed == "[3, 4, 5, 6, 7, 0]\n"


def test_a_launch_by_address_is_the_same_launch(gpu: Device, numbering: Function) -> None:
    address = gpu.allocate(16)
    kinds = (ctypes.c_void_p, *(ctypes.c_uint,) * 7, *(ctypes.c_void_p,) * 3)
    call = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(driver.entry_point("cuLaunchKernel"))
    values = ctypes.c_uint64(address), ctypes.c_uint32(9)
    words = (ctypes.c_void_p * 2)(*map(ctypes.addressof, values))
    with gpu.current():
        assert call(numbering.handle, 4, 1, 1, 1, 1, 1, 0, None, ctypes.addressof(words), None) == 0
    assert numbers(gpu, address, 4) == [9, 10, 11, 12]
    gpu.free(address)


def test_torch_and_we_share_one_context(gpu: Device, numbering: Function) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.zeros(8, dtype=torch.int32, device="cuda")
    api = driver._driver().api
    _, before = api.cuCtxGetCurrent()
    number(numbering, (8, 1, 1), torch.cuda.current_stream().cuda_stream, x.data_ptr(), 1)
    assert (x + 1).tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
    _, after = api.cuCtxGetCurrent()
    _, primary = api.cuDevicePrimaryCtxRetain(0)
    assert int(before) == int(after) == int(primary)
    assert place_of(x.data_ptr()) == driver.Place(Memory.DEVICE, 0)
    assert "torch" in sys.modules
