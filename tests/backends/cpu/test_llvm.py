"""LLVM: text becomes code that runs, and text it refuses is shown."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tileproof.backends.cpu import llvm, target

HOST = target.host()
SOURCES = Path(llvm.__file__).parents[2]


def adding(name: str, number: int) -> str:
    return f"define i64 @{name}(i64 %x) {{\n  %y = add i64 %x, {number}\n  ret i64 %y\n}}\n"


def call(address: int, argument: int) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(argument))


def test_code_runs() -> None:
    text = adding("test_llvm_one", 1) + adding("test_llvm_two", 2)
    result = llvm.load_object(llvm.compile_object(text, HOST), ["test_llvm_one", "test_llvm_two"])
    assert [call(address, 40) for address in result.values()] == [41, 42]


def test_objects_are_loaded_from_many_threads() -> None:
    results: dict[int, int] = {}

    def load(first: int) -> None:
        for number in range(first, 200, 4):
            name = f"test_llvm_thread_{number}"
            (address,) = llvm.load_object(llvm.compile_object(adding(name, number), HOST), [name]).values()
            results[number] = call(address, 1000)

    loaders = [threading.Thread(target=load, args=(first,)) for first in range(4)]
    for loader in loaders:
        loader.start()
    for loader in loaders:
        loader.join()
    assert results == {number: 1000 + number for number in range(200)}


def test_code_calls_functions_of_the_c_library() -> None:
    text = "declare i64 @labs(i64)\n" + adding("test_llvm_labs", 0).replace("add i64 %x, 0", "call i64 @labs(i64 %x)")
    (address,) = llvm.load_object(llvm.compile_object(text, HOST), ["test_llvm_labs"]).values()
    assert call(address, -5) == 5


def test_text_that_llvm_refuses_is_shown() -> None:
    text = adding("f", 1).replace("add i64", "ad i64")
    with pytest.raises(llvm.MalformedText) as caught:
        llvm.compile_object(text, HOST)
    message = str(caught.value)
    assert message.startswith("internal error, please report it: LLVM rejects the code of a kernel\n")
    assert ">     2   %y = ad i64 %x, 1" in message.splitlines()


def test_modules_are_verified_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "define i64 @f(i64 %x) {\n  br label %a\na:\n  %y = add i64 %z, 1\n  %z = add i64 %x, 1\n  ret i64 %y\n}\n"
    monkeypatch.setenv(llvm.VERIFY, "1")
    with pytest.raises(llvm.MalformedText, match="does not dominate"):
        llvm.compile_object(text, HOST)


def test_a_function_that_is_not_there_is_named() -> None:
    code = llvm.compile_object(adding("test_llvm_here", 1), HOST)
    with pytest.raises(KeyError, match="does not define test_llvm_elsewhere"):
        llvm.load_object(code, ["test_llvm_here", "test_llvm_elsewhere"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_while_others_compile_can_compile() -> None:
    stop = threading.Event()

    def keep_compiling() -> None:
        while not stop.is_set():
            llvm.compile_object(adding("f", 1), HOST)

    other = threading.Thread(target=keep_compiling)
    other.start()
    try:
        for number in range(10):
            name = f"test_llvm_forked_{number}"
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    (address,) = llvm.load_object(llvm.compile_object(adding(name, 1), HOST), [name]).values()
                    code = 0 if call(address, 1) == 2 else 1
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        other.join()


def test_versions_are_said() -> None:
    words = llvm.version().split()
    assert (words[0], words[2]) == ("llvmlite", "LLVM")


def test_llvmlite_is_loaded_when_it_is_needed() -> None:
    program = "import sys, tileproof.backends.cpu.device.pool; assert 'llvmlite' not in sys.modules"
    environment = {**os.environ, "PYTHONPATH": str(SOURCES.parent)}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_one_file_knows_llvmlite() -> None:
    users = [path.name for path in SOURCES.rglob("*.py") if "import llvmlite" in path.read_text(encoding="utf-8")]
    assert users == ["llvm.py"]
