"""The kinds of constraints: equations between bodies, or between coordinates, that the motion keeps."""

from .ball import Ball
from .rod import Rod

__all__ = ["Ball", "Rod"]
