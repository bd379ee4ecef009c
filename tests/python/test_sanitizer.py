"""Proves that the address sanitizer watches the extension, without which the other tests of its run would show nothing.

Each fault is planted in a process of its own, which must end with a report.
"""
import os
import subprocess
import sys

import pytest

from vidi import _vidi

# The fault, and with which allocator Python must run to have it found: that of malloc_debug puts some bytes behind each
# object, so that it notices writes, and they hide a read that goes a little too far.
BEYOND = {
    "memory of malloc": ("malloc_debug", "m = libc.malloc(8); ctypes.memmove(ctypes.create_string_buffer(64), m, 64)"),
    "a Python object": ("malloc_debug", "b = bytes(64); ctypes.string_at(id(b), 4096)"),
    "a Python object by one byte": ("malloc", "b = bytes(64); ctypes.string_at(id(b), sys.getsizeof(b) + 1)"),
    "freed memory": ("malloc_debug", "m = libc.malloc(8); libc.free(m); ctypes.string_at(m, 8)"),
}
BEGIN = """
import ctypes, sys
from vidi import _vidi
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
"""


def run(allocator, code):
    return subprocess.run([sys.executable, "-B", "-c", BEGIN + code], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONMALLOC": allocator})


@pytest.mark.parametrize("allocator", ["malloc", "malloc_debug"])
def test_a_correct_program_passes(allocator):
    done = run(allocator, "m = libc.malloc(8); ctypes.string_at(m, 8); libc.free(m)")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("fault", BEYOND)
def test_reading_beyond_is_reported(fault):
    done = run(*BEYOND[fault])
    assert done.returncode != 0
    assert "ERROR: AddressSanitizer: heap-" in done.stderr


def test_the_extension_is_instrumented():
    with open(_vidi.__file__, "rb") as file:
        assert b"__asan_report_load8\0" in file.read()
