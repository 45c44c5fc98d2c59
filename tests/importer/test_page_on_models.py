"""The page on models from files runs, but for what needs other packages and files."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "models_from_files.md"


def test_the_page_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    run = [block for block in blocks if not block.startswith("# not run")]
    assert len(run) >= 3
    exec("\n".join(run), {})
    assert "starts at its limit" in capsys.readouterr().out
