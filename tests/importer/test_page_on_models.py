"""The page on models from files runs, but for what needs other packages and files."""

from __future__ import annotations

from pages import examples, run


def test_the_page_runs(capsys):
    assert len(examples("models_from_files.md")) >= 3
    run("models_from_files.md")
    assert "starts at its limit" in capsys.readouterr().out
