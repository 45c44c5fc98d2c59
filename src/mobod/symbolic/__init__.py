"""Formulas: the kernels' source run on symbols, as SymPy's expressions and as C."""

from .equations import Equations, equations
from .export_c import CSource, export_c

__all__ = ["CSource", "Equations", "equations", "export_c"]
