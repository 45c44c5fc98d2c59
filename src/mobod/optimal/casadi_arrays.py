"""CasADi's callbacks of arrays: functions whose arguments and results are the entries of matrices, sparse or not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


@functools.cache
def array_callback() -> Any:
    """The class of such callbacks, from which others derive: CasADi is imported when it is first asked for.

    Raises
    ------
    ImportError
        If CasADi is not installed, or cannot be loaded.
    """
    try:
        import casadi
    except ModuleNotFoundError:
        raise ImportError("CasADi is not installed: pip install 'mobod[casadi]'") from None
    except ImportError as error:
        raise ImportError(
            f"CasADi is installed and cannot be loaded: {error}. The wheel of OpenSim has a CasADi of its own: the two cannot "
            "be in one process"
        ) from error

    class ArrayCallback(casadi.Callback):
        """Entries of sparse matrices come and go column by column; names of methods are CasADi's own.

        Whoever derives from it calls ``construct(name, {})`` once it is complete.
        """

        def __init__(self, takes: Sequence[Any], gives: Sequence[Any], compute: Callable[..., Sequence[Any]]) -> None:
            casadi.Callback.__init__(self)
            self._takes, self._gives, self._compute = takes, gives, compute

        def get_n_in(self) -> int:
            return len(self._takes)

        def get_n_out(self) -> int:
            return len(self._gives)

        def get_sparsity_in(self, i: int) -> Any:
            return self._takes[i]

        def get_sparsity_out(self, i: int) -> Any:
            return self._gives[i]

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, arguments: Any, results: Any) -> int:
            given = [
                np.zeros(size.nnz()) if one is None else np.frombuffer(one)  # none where all are zero
                for one, size in zip(arguments, self._takes, strict=True)
            ]
            for buffer, part in zip(results, self._compute(*given), strict=True):
                if buffer is not None and len(buffer):
                    np.frombuffer(buffer).reshape(np.shape(part))[...] = part
            return 0

    return ArrayCallback
