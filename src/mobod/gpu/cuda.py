"""A GPU of NVIDIA's, through the library of its driver: nothing has to be installed beside that.

Names and meanings are those of NVIDIA's CUDA Driver API reference.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import sys
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import MobodError
from .code import Program

#: Threads a block: few, since each needs many registers.
THREADS_A_BLOCK = 64
#: Stack of each thread, in bytes: routines call each other through `code.Program`'s switch.
STACK = 16384
_STACK_SIZE, _ERROR_LOG, _ERROR_LOG_SIZE = 0, 5, 6  # CU_LIMIT_STACK_SIZE, CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES


class DeviceError(MobodError, RuntimeError):
    """There is no GPU, or it could not do what it was asked for."""


@functools.cache
def _driver() -> Any:
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise DeviceError(
            f"there is no driver of an NVIDIA GPU here ({error}); mobod.gpu.Ensemble(..., device='processor') runs the same "
            "code without one, and mobod.Ensemble is the fast way on a processor"
        ) from None
    _check(library, library.cuInit(0), "cuInit")
    return library


def _check(library: Any, status: int, what: str, more: str = "") -> None:
    if status != 0:
        text = ctypes.c_char_p()
        library.cuGetErrorString(status, ctypes.byref(text))
        reason = (text.value or b"unknown error").decode()
        raise DeviceError(f"the GPU's driver refused {what}: {reason} ({status}){more}")


def is_available() -> bool:
    """True if there is a driver and a GPU."""
    count = ctypes.c_int()
    try:
        return _driver().cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    except DeviceError:
        return False


class Device:
    """One GPU.

    Parameters
    ----------
    index : int
        Which, as the driver counts them.

    Raises
    ------
    DeviceError
        If there is none of that number.
    """

    def __init__(self, index: int = 0) -> None:
        self._cuda = _driver()
        device, context, name = ctypes.c_int(), ctypes.c_void_p(), ctypes.create_string_buffer(128)
        self._call("cuDeviceGet", ctypes.byref(device), index)
        self._call("cuDeviceGetName", name, len(name), device)
        self.name = name.value.decode()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._context = context
        self._make_current()
        self._call("cuCtxSetLimit", _STACK_SIZE, ctypes.c_size_t(STACK))

    def _call(self, name: str, *args: Any) -> None:
        _check(self._cuda, getattr(self._cuda, name)(*args), name)

    def _make_current(self) -> None:
        """For the thread that calls."""
        self._call("cuCtxSetCurrent", self._context)

    def allocate(self, numbers: int) -> int:
        """The address of so many numbers of eight bytes, zero at first."""
        address, size = ctypes.c_uint64(), 8 * max(1, numbers)
        self._make_current()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self._call("cuMemsetD8_v2", address, ctypes.c_ubyte(0), ctypes.c_size_t(size))
        return address.value

    def free(self, address: int) -> None:
        """Give back what was allocated at an address."""
        self._make_current()
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def write(self, address: int, array: Array) -> None:
        """Copy an array there."""
        if array.nbytes:
            data = np.ascontiguousarray(array)
            self._make_current()
            self._call(
                "cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.nbytes)
            )

    def read(self, address: int, array: Array) -> None:
        """Fill an array from there."""
        if array.nbytes:
            self._make_current()
            self._call(
                "cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(address), ctypes.c_size_t(array.nbytes)
            )

    def load(self, program: Program) -> Any:
        """The program, compiled by the driver for this GPU."""
        self._make_current()
        module, function, count, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_size_t()
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(_ERROR_LOG, _ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(len(log)))
        text = ctypes.c_char_p(program.ptx().encode())
        status = self._cuda.cuModuleLoadDataEx(ctypes.byref(module), text, 2, options, values)
        _check(self._cuda, status, "the code", f": {log.value.decode(errors='replace')}")
        self._call("cuModuleGetFunction", ctypes.byref(function), module, b"run")
        self._call("cuModuleGetGlobal_v2", ctypes.byref(count), ctypes.byref(size), module, b"mobod_count")
        return function, count.value

    def run(self, loaded: Any, number: int, block: int, job: int, threads: int) -> None:
        """Call a routine by so many threads, and wait for them."""
        function, count = loaded
        self.write(count, np.array([threads]))
        values = [ctypes.c_int64(number), ctypes.c_uint64(block), ctypes.c_int64(job), ctypes.c_int64(0)]
        arguments = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values))
        blocks = -(-threads // THREADS_A_BLOCK)
        self._call("cuLaunchKernel", function, blocks, 1, 1, THREADS_A_BLOCK, 1, 1, 0, None, arguments, None)
        self._call("cuCtxSynchronize")
