"""Every kernel of the package can be named by a hash, without which it would be compiled anew in each process."""

import contextlib
import importlib
import pkgutil

import mobod
from mobod.compiling import kernels
from mobod.compiling.fingerprint import NotHashable, fingerprint


def test_every_kernel_has_a_fingerprint():
    for info in pkgutil.walk_packages(mobod.__path__, "mobod."):
        if not info.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(info.name)
    faults = []
    for kernel in list(kernels.marked):
        try:
            fingerprint(getattr(kernel, "python", kernel))
        except NotHashable as error:
            faults.append(str(error))
    assert faults == []
