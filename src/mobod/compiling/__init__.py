"""Compiling of kernels, and where the compiled code is kept: the lowest room, which knows nothing of mechanics.

`kernels` has the decorators, `routines` what is called by address, and `callbacks` what Python computes in its place; `engine`
is Numba as it is used here. `fingerprint` says
what a kernel is made of, which names its file in the `disk_cache`, whose folder is `store`'s; `notice` tells the user.
`ahead` shares the work among processes.
"""

from .ahead import Job, compile_ahead, get_ready, routines_of_package
from .callbacks import (
    Callback,
    among_many,
    keep_refusal,
    lend_lanes,
    lender_at,
    note_raising,
    raise_kept,
    take_refusal,
    with_refusals_apart,
)
from .engine import seconds_spent
from .kernels import Kernel, apart, compiled, generic, is_generic, of_arrays
from .routines import Routine, UsersRoutine, routine, why_not
from .store import cache_folder, clear_cache

__all__ = [
    "Callback",
    "Job",
    "Kernel",
    "Routine",
    "UsersRoutine",
    "among_many",
    "apart",
    "cache_folder",
    "clear_cache",
    "compile_ahead",
    "compiled",
    "generic",
    "get_ready",
    "is_generic",
    "keep_refusal",
    "lend_lanes",
    "lender_at",
    "note_raising",
    "of_arrays",
    "raise_kept",
    "routine",
    "routines_of_package",
    "seconds_spent",
    "take_refusal",
    "why_not",
    "with_refusals_apart",
]
