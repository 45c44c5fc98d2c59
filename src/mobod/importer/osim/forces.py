"""Forces."""
from __future__ import annotations
def add_force(build, item): build.lose(item, f"{item.tag} not done")
