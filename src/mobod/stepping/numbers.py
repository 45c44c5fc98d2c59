"""Numbers of one state or of several, compared: those of `algebra.order`, by which name compiled code in caches knows them."""

from ..algebra.order import larger, size_of

__all__ = ["larger", "size_of"]
