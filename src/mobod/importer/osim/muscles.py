from __future__ import annotations
def keep_wraps(build): pass
