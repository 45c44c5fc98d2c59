"""Rows for kinds that the tables of the pages do not have yet: ``python docs/rows.py`` writes them.

A row has the kind's name and the first sentence of its docstring, without the kind; where a table has more columns, the author
says more. `tests/test_records_of_kinds.py` names the kinds that have none.
"""

import inspect
import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))


def with_row(text: str, names: set[str], kind: type) -> str:
    """The page's text with a row for *kind* at the end of the first table that has most of the kinds' *names*."""
    tables = list(re.finditer(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE))
    begins = re.compile(rf"\s*`(?:{'|'.join(names)})[`(]")  # a cell of a kind, which may say how it is made
    rows = {found: [re.split(r"(?<!\\)\|", row.strip("|")) for row in found.group().splitlines()] for found in tables}
    table = max(tables, key=lambda found: sum(any(map(begins.match, row)) for row in rows[found]))
    last = rows[table][-1]
    if not any(any(map(begins.match, row)) for row in rows[table]):
        raise SystemExit(f"its page has no table of kinds: name `{kind.__name__}` where it says what there is")
    place = next((k for k, cell in enumerate(last) if begins.match(cell)), 0)
    summary = inspect.getdoc(kind).split("\n\n")[0].replace("\n", " ").rstrip(".").replace("|", "\\|")
    cells = ["" for _ in last]
    cells[place] = f"`{kind.__name__}`"
    words = max((k for k in range(len(last)) if k != place), key=lambda k: len(last[k]))  # where others say what they are
    cells[words] = summary[0].lower() + summary[1:]
    return text[: table.end()] + "| " + " | ".join(cells) + " |\n" + text[table.end() :]


def main() -> None:
    """Write the rows, and say which."""
    from test_records_of_kinds import PAGES, is_in, kinds

    for family, page in PAGES.items():
        (path,) = (found for found in DOCS.rglob(page) if "build" not in found.parts)
        for kind in kinds(family):
            text = path.read_text()
            if kind.__name__ != "Ground" and not is_in(text, family, kind):
                path.write_text(with_row(text, {one.__name__ for one in kinds(family)} - {kind.__name__}, kind))
                print(f"{path.relative_to(DOCS.parent)}: {kind.__name__}")


if __name__ == "__main__":
    main()
