"""The pages of docs/, found by name wherever in the tree they are: their examples run, and print what the pages show."""

import contextlib
import doctest
import io
import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
NOT_RUN = "# not run"  # the first line of an example that needs what a test cannot have says so, and why
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\s*^```text\n(.*?)^```)?", flags=re.DOTALL | re.MULTILINE)
ERRORS = re.compile(r"-?\b\d(?:\.\d+)?e-\d\d\b")
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def page(name):
    """The path of a page by its file name, which is the only one of that name."""
    (path,) = DOCS.rglob(name)
    return path


def text_of(name):
    """A page's text."""
    return page(name).read_text(encoding="utf-8")


def examples(name):
    """A page's Python blocks that are run, each with the output in the block of text behind it, if there is one."""
    return [(code, shown) for code, shown in BLOCK.findall(text_of(name)) if not code.startswith(NOT_RUN)]


def run(name):
    """Run a page's examples one after the other, in the working folder; returns the names that they leave.

    What a block prints has to be what the block of text right behind it shows; ``...`` there stands for anything, and numbers
    such as 4e-10, which are errors, need not be the same on each machine.
    """
    names = {"__name__": "__main__"}
    for code, shown in examples(name):
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                exec(compile(code, name, "exec"), names)
        finally:
            print(said.getvalue(), end="")
        assert not shown or same(shown, said.getvalue()), f"{name} shows\n{shown}and is\n{said.getvalue()}"
    return names


def same(shown, said):
    """True if two outputs are the same but for white space and the sizes of errors."""
    return doctest.OutputChecker().check_output(ERRORS.sub("error", shown), ERRORS.sub("error", said), SAME)
