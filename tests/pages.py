"""The pages of docs/: found by name wherever in the tree they are, and their examples run."""

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
NOT_RUN = "# not run"  # the first line of an example that needs what a test cannot have says so, and why


def page(name):
    """The path of a page by its file name, which is the only one of that name."""
    (path,) = DOCS.rglob(name)
    return path


def text_of(name):
    """A page's text."""
    return page(name).read_text(encoding="utf-8")


def examples(name):
    """A page's Python code, one text a block."""
    blocks = re.findall(r"```python\n(.*?)```", text_of(name), flags=re.DOTALL)
    return [code for code in blocks if not code.startswith(NOT_RUN)]


def run(name, names=None):
    """Run a page's examples one after the other; returns the names that they leave."""
    names = {} if names is None else names
    for code in examples(name):
        exec(compile(code, name, "exec"), names)
    return names
