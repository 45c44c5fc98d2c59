"""Many states on a GPU, one a thread, by the same source as on the processor: a proof that it carries.

The kernels of the tree are compiled once more, for records of `threads`; `code` links them and gives them to LLVM's back-end
for NVIDIA's GPUs, which llvmlite contains. What runs them is found when an `Ensemble` is made: `cuda` or, for tests,
`processor`.
"""

from .ensemble import Ensemble

__all__ = ["Ensemble"]
