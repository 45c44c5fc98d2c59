"""Contact shapes."""
from __future__ import annotations
class ContactShapes:
    def __init__(self, build): self.build=build
    def read(self): pass
