"""Plans: direct collocation of systems, one scheme a file, and from where a controller brings a system to rest.

`mobod.collocate` plans motions; a `Phase` is a stretch of one.
"""

from ..value.attributes import explain_names
from .phase import Phase

__all__ = ["Phase"]

explain_names(__name__)
