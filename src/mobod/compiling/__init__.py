"""Compiling of kernels, and where the compiled code is kept: the lowest room, which knows nothing of mechanics.

`kernels` has the decorators, `routines` what is called by address, and `callbacks` what Python computes in its place; `engine`
is Numba as it is used here. `fingerprint` says
what a kernel is made of, which names its file in the `disk_cache`, whose folder is `store`'s; `notice` tells the user.
`ahead` shares the work among processes.
"""

from .ahead import (
    Job as Job,
    compile_ahead as compile_ahead,
    get_ready as get_ready,
    routines_of_package as routines_of_package,
)
from .callbacks import (
    NO_RESULT as NO_RESULT,
    Callback as Callback,
    among_many as among_many,
    keep_refusal as keep_refusal,
    lend_lanes as lend_lanes,
    lender_at as lender_at,
    raise_kept as raise_kept,
    run_noting as run_noting,
    with_refusals_apart as with_refusals_apart,
)
from .engine import seconds_spent as seconds_spent
from .kernels import (
    Kernel as Kernel,
    apart as apart,
    compiled as compiled,
    generic as generic,
    is_generic as is_generic,
    of_arrays as of_arrays,
)
from .routines import (
    Routine as Routine,
    RoutineWithOneApart as RoutineWithOneApart,
    UsersRoutine as UsersRoutine,
    routine as routine,
    why_not as why_not,
)
from .store import cache_folder as cache_folder, clear_cache as clear_cache
