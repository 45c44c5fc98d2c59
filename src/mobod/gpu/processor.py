"""The GPU's code run by the processor, thread after thread: what tests compare, and what runs where there is no GPU."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from .code import Program


class Processor:
    """The processor, with the interface of `cuda.Device`."""

    name = "the processor, in place of a GPU"

    def __init__(self) -> None:
        self._arrays: dict[int, Any] = {}
        self._lock = threading.Lock()

    def allocate(self, numbers: int) -> int:
        """The address of so many numbers of eight bytes, zero at first."""
        array = np.zeros(max(1, numbers))
        self._arrays[array.ctypes.data] = array
        return array.ctypes.data

    def free(self, address: int) -> None:
        """Give back what was allocated at an address."""
        self._arrays.pop(address, None)

    def write(self, address: int, array: Array) -> None:
        """Copy an array there."""
        ctypes.memmove(address, np.ascontiguousarray(array).ctypes.data, array.nbytes)

    def read(self, address: int, array: Array) -> None:
        """Fill an array from there."""
        ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def load(self, program: Program) -> Any:
        """The program, ready to run."""
        return program.for_processor()

    def run(self, loaded: Any, number: int, block: int, job: int, threads: int) -> None:
        """Call a routine by so many threads, and wait for them."""
        kind = ctypes.CFUNCTYPE(None, *([ctypes.c_int64] * 5))
        with self._lock:  # the code keeps the number of the present thread in one place
            kind(loaded.get_function_address("run"))(number, block, job, 0, threads)
