"""Writes the page on the command line: what each command says of itself."""

import argparse
import os
from pathlib import Path

PAGE = Path(__file__).parent / "reference" / "command_line.rst"
HEAD = """Command line
============

What ``mobod COMMAND --help`` prints. All that ``simulate`` can be told can be in a :doc:`file <run_files>`, too. Errors of the
user's are one line, and the status is 2.
"""


def write_page():
    """Write the page, if it has changed."""
    from mobod.cli.arguments import make_parser

    os.environ["COLUMNS"] = "100"
    parser = make_parser(print, print)  # what commands do is not asked for here
    (commands,) = (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001
    lines = [HEAD]
    for name, command in commands.items():
        lines += [f"mobod {name}", "-" * (6 + len(name)), "", ".. code-block:: text", ""]
        lines += [f"   {line}".rstrip() for line in command.format_help().splitlines()] + [""]
    text = "\n".join(lines)
    if not PAGE.exists() or PAGE.read_text() != text:
        PAGE.write_text(text)
