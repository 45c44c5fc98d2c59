"""Fixtures of the importer's tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes text to a file and returns its path."""

    def write_file(content: str | bytes, name: str = "model.urdf") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What files say and is not simulated is a warning, which most tests here are not about; test_reports.py is."""
    here = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.filterwarnings("ignore::mobod.ModelWarning"), append=False)
