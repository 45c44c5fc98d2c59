"""Docstrings of public names follow the rules of numpydoc, where the package is installed; their examples are run elsewhere."""

import inspect
import re
from types import ModuleType

import pytest

import mobod as mb
from mobod.value import attributes

validate = pytest.importorskip("numpydoc.validate", reason="numpydoc comes with the extra docs")

#: Rules that are not ours, and why.
OTHERS = {
    "ES01": "one sentence is enough for most accessors",
    "EX01": "classes, functions and operators have examples, see test_pages_of_reference.py; accessors are in those",
    "GL08": "a hook that a class takes over is described in its base",
    "PR03": "parameters that are alike stand together: body1, body2",
    "PR04": "a type that another parameter has said, or none but an object's of the package, needs no saying again",
    "PR07": "state : State says it all",
    "PR08": "a sentence may begin with a symbol",
    "RT01": "where there is one sentence, it says what is returned",
    "RT03": "a type may say it all",
    "RT04": "a sentence may begin with a symbol",
    "SA01": "few names have a like",
    "SA03": "half a sentence is enough",
    "SS02": "a sentence may begin with a symbol",
    "SS05": "a quantity's docstring is a noun phrase",
}
#: Their signature is that of ``__new__``, which takes whatever a derived class does.
ANY_ARGUMENTS = {"EventHandler", "EventReporter"}


def public():
    """All classes and functions that users import, and the methods that the classes show them, by where they are defined."""
    found = {}
    for name in mb.__all__:
        one = getattr(mb, name)
        inner = getattr(one, "__all__", ()) if isinstance(one, ModuleType) and name != "examples" else ()
        for thing in [one, *(getattr(one, n) for n in inner)]:
            if not getattr(thing, "__module__", "").startswith("mobod"):
                continue
            if inspect.isfunction(thing) or inspect.isclass(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
            if inspect.isclass(thing):
                for base in thing.__mro__:
                    if base.__module__.startswith("mobod"):
                        found |= {f"{base.__module__}.{base.__qualname__}.{n}": m for n, m in methods(base)}
    return found


def methods(kind):
    """The public methods and properties that a class defines."""
    return [
        (name, one)
        for name, one in vars(kind).items()
        if name[0] != "_" and (inspect.isroutine(one) or isinstance(one, property))
    ]


def test_docstrings_follow_numpydoc():
    things = public()
    assert len(things) > 2000
    wrong = []
    for name, one in things.items():
        for code, message in validate.validate(name)["errors"]:
            listed = re.search(r"^ *Parameters\n *---", one.__doc__ or "", flags=re.MULTILINE)
            if (
                code in OTHERS
                or (code == "PR01" and not listed)
                or (code[:2] == "PR" and name.rpartition(".")[2] in ANY_ARGUMENTS)
            ):
                continue  # PR01: one sentence names what it takes; a list of parameters is complete
            wrong.append(f"{name}: {code} {message}")
    assert wrong == []


@pytest.mark.parametrize("room", ["constraint", "force", "measure", "mobilizer"])
def test_kinds_say_what_all_their_parameters_are(room):
    """What all kinds of a room take is written once, in their base; `help` has it of each."""
    kinds = [one for one in vars(getattr(mb, room)).values() if inspect.isclass(one)]
    listed = [kind for kind in kinds if "Parameters\n" in (kind.__doc__ or "") and issubclass(kind, attributes.Sealed)]
    assert len(listed) > 5
    for kind in listed:
        said = attributes._entries_of(attributes._PARAMETERS.search(kind.__doc__))
        for name in attributes.keywords_of(kind.__init__) - {"self"}:
            assert name in said and not re.search(r"\n *(See|As (for|of) every) [^\n]*\n$", said[name]), (kind, name)
