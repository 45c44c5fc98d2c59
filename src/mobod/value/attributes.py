"""Names that are not there: refused when they are assigned or passed, with the one that was probably meant.

Assigning a new attribute is legal Python and does nothing here: ``pin.angle = 0.3`` would pass in silence. `Sealed` refuses it.
Reading one is left to Python, which suggests another by itself: with ``__getattr__`` every read would take four times as long.
"""

from __future__ import annotations

import dis
import enum
import functools
import re
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Never, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_PACKAGE = __name__.partition(".")[0]
_CO_VARKEYWORDS = 8


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of *names* that was probably meant, whatever its capitals; None where none is like it, or contains it."""
    import difflib  # only when something went wrong

    wanted = _plain(name)
    plain = {_plain(other): other for other in names}
    found = difflib.get_close_matches(wanted, plain, n=1)
    if not found and len(wanted) > 3:
        found = sorted((other for other in plain if wanted in other), key=len)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _public(one: object) -> list[str]:
    return [name for name in dir(one) if not name.startswith("_")]


# ---------------------------------------------------------------------------------------------- objects


class HidesInner:
    """Has names for other rooms of the package beside those for users; `dir`, and all that asks it, shows users only theirs."""

    __slots__ = ()
    #: The names for other rooms; ``docs/explanation/inner_interface.md`` says what each is for.
    INNER: ClassVar[frozenset[str]] = frozenset({"INNER"})

    def __dir__(self) -> list[str]:
        hidden = inner_names(type(self))  # type: ignore[arg-type]
        return [name for name in super().__dir__() if name not in hidden]


@functools.lru_cache(maxsize=512)
def inner_names(kind: Any) -> frozenset[str]:
    """The names of a class and of its bases that are for other rooms of the package, and not for users."""
    return frozenset().union(*(vars(one).get("INNER", ()) for one in kind.__mro__))


class _Signature:
    """Signatures of classes are those of their constructors; `inspect` of Python below 3.11.3 would take `Sealed.__new__`'s."""

    def __get__(self, one: object, kind: type) -> Any:
        import inspect

        maker = next((base for base in kind.__mro__ if "__new__" in vars(base) or "__init__" in vars(base)), object)
        if one is not None or "__new__" in vars(maker):
            raise AttributeError("__signature__")
        signature = inspect.signature(vars(maker)["__init__"])
        return signature.replace(parameters=list(signature.parameters.values())[1:])


class Sealed(HidesInner):
    """Refuses public attributes that its class does not declare, and keywords that its constructor does not take.

    What a class gives its objects it declares: by an annotation, as a property, as a default in its body, or by assigning it in
    its methods. Names that begin with an underscore pass, and users' own classes, derived from the package's, may keep what
    they like.
    """

    __slots__ = ()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if is_of_package(cls):
            _complete_docstring(cls)
        elif cls.__setattr__ is Sealed.__setattr__:
            cls.__setattr__ = _set  # type: ignore[method-assign]

    if not TYPE_CHECKING:  # checkers read constructors and annotations, and would let everything pass for a class with these
        __signature__ = _Signature()

        def __new__(cls, *arguments, **keywords):  # noqa: D102
            if keywords:
                known = _keywords_of(cls)
                if known is not None and not known.issuperset(keywords):
                    refuse_keyword(cls.__name__, keywords, known)
            new = super().__new__
            return new(cls) if new is object.__new__ else new(cls, *arguments, **keywords)

        def __setattr__(self, name, value):
            kind = type(self)
            if name not in _passed(kind):
                if name[0] != "_" and not (name in _declared(kind) or hasattr(kind, name) or name in _assigned(kind)):
                    _refuse_attribute(self, name)
                _passed(kind).add(name)
            _set(self, name, value)


_set = object.__setattr__
#: The list of parameters of a docstring: its margin, and its lines.
_PARAMETERS = re.compile(r"^( *)Parameters\n\1-{10}\n((?:\1\S.*\n(?:\1 +.*\n|\n(?=\1 ))*)*)", re.MULTILINE)


def _complete_docstring(kind: type) -> None:
    """Add the parameters that the constructor takes, and a base describes, to the docstring: each is written once."""
    listed = _PARAMETERS.search(kind.__doc__ or "")
    if listed is None or not hasattr(kind.__init__, "__code__"):  # type: ignore[misc]
        return
    entries, names = _entries_of(listed), _parameters(kind.__init__)[1:]  # type: ignore[misc]
    for base in kind.__mro__[1:]:
        if all(name in entries for name in names):
            break
        inherited = _PARAMETERS.search(base.__doc__ or "")
        if inherited is not None and base.__module__ != "builtins":
            entries = _entries_of(inherited) | entries
    written = dict.fromkeys([entries[name] for name in names if name in entries] + list(_entries_of(listed).values()))
    doc = kind.__doc__ or ""
    kind.__doc__ = doc[: listed.start(2)] + "".join(written) + doc[listed.end(2) :]


def _entries_of(listed: re.Match[str]) -> dict[str, str]:
    """The entry of each name in a list of parameters."""
    entries = re.split(rf"^(?={listed[1]}\S)", listed[2], flags=re.MULTILINE)[1:]
    return {name.strip(" *"): entry for entry in entries for name in entry.partition("\n")[0].partition(" : ")[0].split(",")}


def is_of_package(kind: type) -> bool:
    """True if it is a class of the package, and no user's: the examples are written as a user would."""
    names = kind.__module__.split(".")
    return names[0] == _PACKAGE and names[1:2] != ["examples"]


@functools.lru_cache(maxsize=512)
def _passed(kind: Any) -> set[str]:
    """The names of attributes that have been let through, to be filled: the start of a short run assigns eighty."""
    return set()


@functools.lru_cache(maxsize=512)
def _declared(kind: Any) -> frozenset[str]:
    """The names that a class and its bases annotate, or assign in their constructors."""
    names: set[str] = set()
    for one in kind.__mro__:
        names.update(getattr(one, "__annotations__", ()))
        names.update(_stored_by(one.__dict__.get("__init__")))
    return frozenset(names)


@functools.lru_cache(maxsize=512)
def _assigned(kind: Any) -> frozenset[str]:
    """The names that any method of a class or its bases assigns: looked at where `_declared` does not know one."""
    return frozenset(name for one in kind.__mro__ for method in vars(one).values() for name in _stored_by(method))


def _stored_by(function: Any) -> list[str]:
    """The attributes that a function's own code assigns."""
    code = getattr(function, "__code__", None)
    return [] if code is None else [step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR"]


def _refuse_attribute(one: object, name: str) -> Never:
    kind: type[Any] = type(one)
    setters = [setter for setter in (f"set_{name}", f"set_default_{name}") if callable(getattr(kind, setter, None))]
    if setters:
        calls = " or ".join(f"{setter}({', '.join(_parameters(getattr(kind, setter))[1:])})" for setter in setters)
        remedy = f"call {calls}"
    else:
        # what can be assigned before what can only be read or called
        hidden = inner_names(kind)  # type: ignore[arg-type]
        settable = [p for p in _public(kind) if p not in hidden and getattr(getattr(kind, p), "fset", None) is not None]
        names = [*settable, *(p for p in _declared(kind) - hidden if not p.startswith("_"))]  # type: ignore[arg-type]
        meant = nearest(name, names) or nearest(name, [p.removeprefix("set_") for p in _public(kind)])
        if meant is not None and meant not in names and hasattr(kind, f"set_{meant}"):
            meant = f"set_{meant}"
        if meant is None:
            part = _part_named(name)
            remedy = f"help({kind.__name__}) says what there is" if part is None else f"make a {part}(...)"
        else:
            remedy = f"did you mean {meant}?"
    # without name= and obj=, of which Python would add a suggestion of its own
    raise AttributeError(f"{one!r} has no attribute {name!r} that could be assigned; {remedy}")


def _part_named(name: str) -> str | None:
    """A kind of part that has this name: ``system.gravity = ...`` is a `mobod.force.Gravity` to be made."""
    for package in ("force", "constraint", "mobilizer", "motion", "measure", "event"):
        module = sys.modules.get(f"{_PACKAGE}.{package}")
        for kind in () if module is None else module.__dict__["__all__"]:
            if _plain(kind) == _plain(name):
                return f"{_PACKAGE}.{package}.{kind}"
    return None


def _parameters(function: Any) -> list[str]:
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


# ---------------------------------------------------------------------------------------------- keywords


@functools.lru_cache(maxsize=512)
def _keywords_of(kind: type) -> frozenset[str] | None:
    """Names of the arguments of a class's constructor; None where they are anything."""
    names: set[str] = set()
    for one in kind.__mro__:
        init = one.__dict__.get("__init__")
        if init is None:
            continue
        if not hasattr(init, "__code__"):
            return None
        names.update(_parameters(init)[1:])
        if not init.__code__.co_flags & _CO_VARKEYWORDS:
            return frozenset(names)
        if not is_of_package(one):  # who knows what becomes of the others
            return None
    return None


def refuse_keyword(name: str, given: Iterable[str], known: Iterable[str]) -> Never:
    """Raise a TypeError that says what was meant by the first of the keywords *given* that is not *known*."""
    unknown = next(keyword for keyword in given if keyword not in known)
    # step is fixed_step_size or max_step_size before it is what is spelled like it, system
    meant = [one for one in sorted(known) if one.startswith(unknown) or f"_{unknown}_" in f"_{one}_"]
    near = None if meant else nearest(unknown, known)
    meant = meant if near is None else [near]
    remedy = f"did you mean {' or '.join(map(repr, meant))}?" if meant else f"there are {', '.join(sorted(known))}"
    raise TypeError(f"{name}() got an unexpected keyword argument {unknown!r}; {remedy}")


def keywords_of(function: Any) -> frozenset[str]:
    """Names of the arguments of a function written in Python."""
    return frozenset(_parameters(function))


def named_arguments(function: F) -> F:
    """Decorate a public function to say what was meant by a keyword that it does not take."""
    known = keywords_of(function) - {"self"}
    # a constructor is called by its class's name
    name = function.__qualname__.split(".")[-2] if function.__name__ == "__init__" else function.__name__

    @functools.wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        if not known.issuperset(keywords):
            refuse_keyword(name, keywords, known)
        return function(*arguments, **keywords)

    return checked  # type: ignore[return-value]


# ---------------------------------------------------------------------------------------------- modules and enums


class _KindModule(ModuleType):
    """The module of a kind, which has the kind's name in lower case: it may have been taken for the kind."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Never:
        package, _, name = self.__name__.rpartition(".")
        public = sys.modules[package].__dict__
        kinds = [kind for kind in public.get("__all__", ()) if getattr(public.get(kind), "__module__", None) == self.__name__]
        meant = nearest(name, kinds)
        raise TypeError(f"{self.__name__} is a module; did you mean {package}.{meant}(...)?")


def _is_exported(name: str, one: Any) -> bool:
    home = getattr(one, "__module__", None) or ""
    return name[0] != "_" and home.partition(".")[0] == _PACKAGE and home != __name__


def explain_names(package: str, *modules: str) -> None:
    """Make a public package say what was meant by a name that it does not have, or by a kind's module that is called.

    ``__all__`` becomes what it exports, unless it lists that itself: *modules*, and the classes and functions that its
    ``__init__.py`` imports, as ``Name as Name`` for type checkers, or makes.
    """
    module = sys.modules[package]
    exported = [name for name, one in vars(module).items() if name in modules or _is_exported(name, one)]
    module.__dict__.setdefault("__all__", exported)

    def missing(name: str) -> Never:
        raise missing_name(module, name)

    def public() -> list[str]:
        return sorted(module.__dict__["__all__"])

    module.__dict__.setdefault("__getattr__", missing)
    module.__dict__.setdefault("__dir__", public)  # kinds, and not the modules that they are in
    for name in module.__dict__["__all__"]:
        kind = module.__dict__.get(name)  # what is imported when it is first asked for is not there yet
        home = kind.__module__ if isinstance(kind, type) else None
        if home is not None and home.rpartition(".")[0] == package and type(sys.modules[home]) is ModuleType:
            sys.modules[home].__class__ = _KindModule


def missing_name(module: ModuleType, name: str) -> AttributeError:
    """The error of a name that a module does not have; without ``obj``, so that tracebacks add no second guess."""
    known = () if name.startswith("_") else module.__dict__["__all__"]
    # several kinds of what was asked for, such as of springs
    meant = [one for one in known if len(name) > 2 and one.lower().endswith(name.lower())]
    if len(meant) < 2:
        one = nearest(name, known)
        meant = [] if one is None else [one]
    hint = f"; did you mean {' or '.join(f'{module.__name__}.{one}' for one in meant)}?" if meant else ""
    return AttributeError(f"module {module.__name__!r} has no attribute {name!r}{hint}", name=name, obj=None)


class NamedMembers(enum.EnumMeta):
    """The metaclass of enums that say which member was meant: ``Stage.Position`` is no member, ``Stage.POSITION`` is."""

    def __getattr__(cls, name: str) -> Any:
        if name[0] == "_":
            raise AttributeError(f"{cls.__name__} has no attribute {name!r}")
        try:
            return cls._member_map_[name]  # where Python 3.11 has them
        except KeyError:
            meant = nearest(name, cls._member_map_)
        hint = f"; did you mean {cls.__name__}.{meant}?" if meant is not None else ""
        raise AttributeError(f"{cls.__name__} has no member {name!r}{hint}", name=name, obj=None) from None
