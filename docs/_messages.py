"""Writes the page of all messages: each error that the package raises, as its source has it."""

import ast
from pathlib import Path

import mobod
import mobod.errors

HERE = Path(__file__).parent
PACKAGE = Path(mobod.__file__).parent
PAGE = HERE / "reference" / "api" / "messages.rst"
TITLE = "All messages"
#: What users meet; others are faults of the package, or Numba's own.
USERS = {*(name for name in vars(mobod.errors) if name.endswith("Error")), "CheckpointError"}
USERS |= {"AttributeError", "ImportError", "IndexError", "KeyError", "OSError", "TypeError", "ValueError"}


def read_messages():
    """Of each class of errors the messages, by the room of the package that raises them."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            call = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args and call.func.id in USERS:
                text = template(call.args[0])
                if text:
                    found.setdefault(call.func.id, {}).setdefault(room, set()).add(text)
    return found


def template(node):
    """A message with three dots for each part that depends on the case; None where nothing else is left."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "..." for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [template(part) or "..." for part in (node.left, node.right)]
        return "".join(parts) if set(parts) != {"..."} else None
    return None


def write_page():
    """Write the page, if it has changed."""
    says = "Three dots stand for what depends on the case: a name, a value. :doc:`../errors` says what the classes mean."
    lines = [TITLE, "=" * len(TITLE), "", says, ""]
    for kind, rooms in sorted(read_messages().items()):
        lines += ["", kind, "-" * len(kind), ""]
        for room, messages in sorted(rooms.items()):
            lines += [f"``{room}``", ""]
            for message in sorted(messages):
                said = " ".join(message.split()).replace("``", "'").replace("`", "'")
                lines += [f"- ``{said}``"] if said.strip(". ") else []
            lines += [""]
    text = "\n".join(lines) + "\n"
    PAGE.parent.mkdir(exist_ok=True)
    if not PAGE.exists() or PAGE.read_text() != text:
        PAGE.write_text(text)
