"""Writes the pages of the reference: names by task, and each class's names in groups, what matters first.

Two lists say what is where: ``reference/tasks.toml`` for the package, ``tests/names_for_users.txt`` for its large classes.
"""

import functools
import inspect
import re
import tomllib
from pathlib import Path
from types import ModuleType

import mobod
from mobod.value.attributes import inner_names

HERE = Path(__file__).parent
OUT = HERE / "reference" / "api"


def read_tasks():
    """The tasks: each has a title, a sentence and names."""
    return tomllib.loads((HERE / "reference" / "tasks.toml").read_text())["task"]


def read_groups():
    """Of each large class, what is shown first, and the names of each group by its title."""
    groups, first = {}, {}
    for line in (HERE.parent / "tests" / "names_for_users.txt").read_text().splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            (kind,) = match.groups()
            groups[kind] = {}
        elif line.startswith("#!"):
            first[kind] = line[2:].split()
        elif line.startswith("# ") and groups:
            title = line[2:]
            groups[kind][title] = []
        elif line and groups:
            groups[kind][title] += line.split()
    return first, groups


FIRST, GROUPS = read_groups()
SHOWN = set(GROUPS)


def write_pages():
    """Write all pages anew; those that have not changed stay as they are, so that Sphinx reads only the others again."""
    pages = {}
    for task in read_tasks():
        pages[slug(task["title"])] = task_page(task)
        for name in task["names"]:
            if name in GROUPS:
                pages[name] = class_page(name, FIRST[name], GROUPS[name])
            elif isinstance(getattr(mobod, name), ModuleType) and name != "examples":
                pages[f"module_{name}"] = module_page(name)
    pages["index"] = index_page()
    OUT.mkdir(exist_ok=True)
    for path in OUT.glob("*.rst"):
        if path.stem not in pages and path.stem != "messages":
            path.unlink()
    for name, text in pages.items():
        path = OUT / f"{name}.rst"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def index_page():
    """All tasks, each with a table of its names."""
    lines = ["API by task", "===========", ""]
    for task in read_tasks():
        lines += [f":doc:`{task['title']} <{slug(task['title'])}>`", f"    {plain(task['says'])}", ""]
        lines += ["    " + ", ".join(reference(name) for name in task["names"]), ""]
    lines += [".. toctree::", "   :hidden:", ""] + [f"   {slug(task['title'])}" for task in read_tasks()]
    return "\n".join(lines) + "\n"


def task_page(task):
    """A table of the names of a task, and what has no page of its own."""
    lines = [task["title"], "=" * len(task["title"]), "", plain(task["says"]), "", ".. py:currentmodule:: mobod", ""]
    lines += table((reference(name), summary(getattr(mobod, name))) for name in task["names"])
    own, others = [], []
    for name in task["names"]:
        one = getattr(mobod, name)
        if isinstance(one, ModuleType):
            others += [f"module_{name}"] if name != "examples" else []
        elif name in GROUPS:
            others.append(name)
        elif name != "Mobod":
            own += documented("mobod", name, one)
    lines += own
    if others:
        lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in others)]
    return "\n".join(lines) + "\n"


def class_page(name, first, groups):
    """A class with many names: those that matter first, then all of them by group."""
    lines = [name, "=" * len(name), "", ".. py:currentmodule:: mobod", "", f".. autoclass:: mobod.{name}", ""]
    kind = getattr(mobod, name)
    lines += [".. rubric:: First of all", ""]
    lines += table((f":py:obj:`~mobod.{name}.{one}`", summary(inspect.getattr_static(kind, one, None))) for one in first)
    for title, members in groups.items():
        lines += ["", title, "-" * len(title), ""]
        for member in members:
            lines += entry(f"mobod.{name}", kind, member)
    return "\n".join(lines) + "\n"


def module_page(name):
    """The kinds of a module."""
    module = getattr(mobod, name)
    title = f"mobod.{name}"
    names = [one for one in public(module) if not isinstance(getattr(module, one), ModuleType)]
    lines = [title, "=" * len(title), "", summary(module), "", f".. py:currentmodule:: {title}", ""]
    real = [one for one in names if getattr(getattr(module, one), "__name__", one) == one]
    synonyms = [one for one in names if one not in real]
    lines += table((f":py:obj:`~{title}.{one}`", summary(getattr(module, one))) for one in real)
    if synonyms:
        said = ", ".join(f"``{one}`` is :py:obj:`~{title}.{getattr(module, one).__name__}`" for one in synonyms)
        lines += ["Other names: " + said + ".", ""]
    for one in real:
        if is_package(getattr(mobod, one, None)) and getattr(mobod, one, None) is getattr(module, one):
            continue  # documented under its shorter name
        lines += documented(title, one, getattr(module, one))
    return "\n".join(lines) + "\n"


def public(module):
    """The names of a module that are its own, and meant for users."""
    listed = getattr(module, "__all__", None) or [
        name for name, one in vars(module).items() if name[0] != "_" and getattr(one, "__module__", None) == module.__name__
    ]
    return list(listed)


def documented(module, name, one):
    """The directives for a function, or for a class with the names that it and its undocumented bases declare."""
    lines = ["", name, "-" * len(name), ""]
    if not inspect.isclass(one):
        return [*lines, f".. autofunction:: {module}.{name}" if callable(one) else f".. autodata:: {module}.{name}", ""]
    lines += [f".. autoclass:: {module}.{name}", ""]
    members = {member: inspect.getattr_static(one, member) for member in own_names(one)}
    rows, entries = [], []
    for member, what in members.items():
        if (of := re.fullmatch(r"get_default_(\w+)", member)) and is_accessor(member, members):
            rows.append((f"``get_{of[1]}``, ``set_{of[1]}``, ``get_default_{of[1]}``, ``set_default_{of[1]}``", summary(what)))
        elif is_accessor(member, members):
            continue  # in the row above
        elif "\n\n" not in (inspect.getdoc(what) or ""):
            rows.append((f"``{member}``", summary(what)))
        else:
            entries += entry(f"{module}.{name}", one, member)
    return lines + (table(rows) if rows else []) + entries


#: A parameter of a force, constraint or mobilizer has four: of a state, and of states to come.
ACCESSORS = ("get", "set", "get_default", "set_default")


def is_accessor(member, members):
    """Whether it is one of the four of a parameter."""
    of = re.fullmatch(r"(?:get_default|set_default|get|set)_(\w+)", member)
    return of is not None and all(f"{verb}_{of[1]}" in members for verb in ACCESSORS)


def own_names(kind):
    """What users find in a class and not in a base that has its own page."""
    shown = [one for one in kind.__mro__[1:] if one in documented_classes()]
    hidden = set().union(*(dir(one) for one in shown), inner_names(kind))
    names = []
    for one in kind.__mro__:
        if one.__module__.partition(".")[0] == "mobod":
            names += [name for name in vars(one) if not name.startswith("_") and name not in hidden and name not in names]
    return [name for name in names if has_words(kind, name)]


@functools.cache
def documented_classes():
    """All classes of which the reference has an entry."""
    modules = [one for one in (getattr(mobod, name) for name in mobod.__all__) if isinstance(one, ModuleType)]
    return {one for module in [mobod, *modules] for one in (getattr(module, n) for n in public(module)) if inspect.isclass(one)}


def has_words(kind, name):
    """Whether it is a method or a property with a docstring; a constant of the class has none of its own."""
    one = inspect.getattr_static(kind, name)
    return callable(getattr(kind, name, None)) or isinstance(one, property)


def entry(prefix, kind, name):
    """The directive for one member of a class."""
    one = inspect.getattr_static(kind, name, None)
    what = "method" if inspect.isroutine(one) or isinstance(one, (staticmethod, classmethod)) else "property"
    if not isinstance(one, property) and what == "property":
        what = "attribute"
    return [f".. auto{what}:: {prefix}.{name}", ""]


def table(rows):
    """A table of two columns."""
    lines = [".. list-table::", "   :widths: 35 65", ""]
    for name, says in rows:
        lines += [f"   * - {name}", f"     - {says}"]
    return [*lines, ""]


def reference(name):
    """A link to a public name of the package."""
    if isinstance(getattr(mobod, name), ModuleType):
        return f":doc:`mobod.{name} <module_{name}>`" if name != "examples" else ":doc:`mobod.examples </gallery>`"
    return f":py:obj:`~mobod.{name}`" if name != "Mobod" else "``Mobod``"


def summary(one):
    """The first sentence of a docstring, on one line."""
    words = inspect.getdoc(one) if one is not None else None
    first = " ".join((words or "").partition("\n\n")[0].split())
    match = re.match(r"(.*?[.:])(?= [A-Z]|$)", first)
    return (match.group(1) if match else first) or "\\ "


def slug(title):
    """The name of a task's page."""
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def plain(text):
    """A sentence of the list of tasks, its links in Sphinx's own form."""
    return re.sub(r"\[(.*?)\]\((.*?)\.md\)", r":doc:`\1 <\2>`", text)


def is_package(one):
    """Whether it is a class or function of the package."""
    return getattr(one, "__module__", "").startswith("mobod") and not isinstance(one, ModuleType)


if __name__ == "__main__":
    write_pages()
