"""The reference is complete: each public name belongs to one task, each kind has its entry."""

import tomllib
from collections import Counter

import mobod as mb
from pages import DOCS, text_of

TASKS = tomllib.loads((DOCS / "reference" / "tasks.toml").read_text())["task"]


def test_each_public_name_is_in_one_task():
    count = Counter(name for task in TASKS for name in task["names"])
    assert [name for name, n in count.items() if n > 1] == []
    assert sorted(count) == sorted(set(mb.__all__) - {"__version__"}), "docs/reference/tasks.toml"


def test_each_class_of_errors_has_its_remedy():
    page = text_of("errors.md")
    from mobod import errors

    named = [name for name in vars(errors) if name.endswith("Error") and name != "CommandError"]
    assert len(named) >= 4 and [name for name in named if f"`{name}`" not in page] == []
