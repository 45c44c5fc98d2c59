"""Numba's work around compiling, done once or not at all: see `numba_patches`, which puts these in its place.

For each of its 27 passes over each function Numba takes its lock, tells whoever listens, writes down what it was asked for
and looks whether the pass has kept Numba's own rules; whenever a function is not found at once it looks through all registries
for new ones; it compares options one by one, by name. Half of the time that a kernel takes to compile is Numba's, not LLVM's.
"""

from __future__ import annotations

import functools
import importlib
import logging
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, NamedTuple

from . import interrupts


class Patch(NamedTuple):
    """An attribute of Numba's, and what replaces it meanwhile."""

    owner: Any
    name: str
    replacement: Any


def _call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    return function(*args)


#: ``in_one_chunk(function, args)`` calls *function*. Python keeps frames in chunks of 16 KB and gives one back to the system as
#: soon as it is empty: a call at a chunk's end maps and unmaps memory each time, which took Numba, whose passes are deep
#: in calls, a tenth of its time. A frame that asks for a large stack gets a chunk of 2 MB; what it calls has the other half.
in_one_chunk: Any = FunctionType(_call.__code__.replace(co_stacksize=140_000), {})


def leaner() -> Iterator[Patch]:
    """All of it."""
    yield from _compare_options_at_once()
    yield from _look_for_new_registrations()
    yield from _enter_contexts_of_errors()
    yield from _run_passes()
    yield from _order_one_template()
    yield from _look_for_warnings_once()
    yield from _ask_types_without_registers()
    yield from _lock_quietly()
    yield from _log_nothing()


def _compare_options_at_once() -> Iterator[Patch]:
    """Equality of sets of options: what has been set is the same in nearly all; and the hash, which is that of all names."""
    from numba.core.targetconfig import TargetConfig

    owner: Any = TargetConfig
    equal, hash_of = owner.__eq__, owner.__hash__
    known: dict[type, int] = {}

    @functools.wraps(hash_of)
    def hash_of_kind(self: Any) -> int:
        kind = type(self)
        found = known.get(kind)
        if found is None:
            found = known[kind] = hash_of(self)
        return found

    @functools.wraps(equal)
    def equal_or_alike(self: Any, other: Any) -> Any:
        if type(other) is not type(self):
            return equal(self, other)
        mine, theirs, options = self._values, other._values, self.options
        if mine == theirs:
            return True
        for name in mine.keys() | theirs.keys():
            default = options[name].default
            if mine.get(name, default) != theirs.get(name, default):
                return False
        return True

    yield Patch(owner, "__hash__", hash_of_kind)
    yield Patch(owner, "__eq__", equal_or_alike)


def _look_for_new_registrations() -> Iterator[Patch]:
    """`refresh` of Numba's contexts, which reads what registries have got since the last time: nothing, but for a few times."""
    from numba.core.base import BaseContext
    from numba.core.typing.context import BaseContext as TypingContext

    def unless_nothing_is_new(owner: Any) -> Patch:
        refresh = owner.refresh
        seen: dict[int, tuple[Any, list[int]]] = {}  # by registries, which contexts share with their copies

        def lengths(context: Any) -> list[int]:
            """The numbers of registrations of everything that the context has read."""
            found = [
                len(getattr(registry, name))
                for registry, loader in context._registries.items()
                for name in loader.registry_items
            ]
            typing = getattr(context, "typing_context", None)
            return found if typing is None else found + lengths(typing)

        @functools.wraps(refresh)
        def refresh_if_new(self: Any) -> None:
            known = seen.get(id(self._registries))
            if known is None or known[1] != lengths(self):
                refresh(self)
                seen[id(self._registries)] = self._registries, lengths(self)

        return Patch(owner, "refresh", refresh_if_new)

    yield unless_nothing_is_new(BaseContext)
    yield unless_nothing_is_new(TypingContext)


def _enter_contexts_of_errors() -> Iterator[Patch]:
    """The context around each instruction in which an error is told where it was: a generator's takes four times as long."""
    errors: Any = importlib.import_module("numba.core.errors")
    ask: Callable[..., Any] = errors.new_error_context
    last, within = errors.loc_info, errors._numba_path

    class ErrorContext:
        """Numba's own context, made only when there is an error."""

        __slots__ = ("what",)

        def __init__(self, *args: Any, **more: Any) -> None:
            self.what = args, more

        def __enter__(self) -> None:
            more = self.what[1]
            where = more.get("loc")
            if where is not None and not where.filename.startswith(within):
                last.update(more)

        def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
            if error is None:
                return None
            args, more = self.what
            context = ask(*args, **more)
            context.__enter__()
            return context.__exit__(kind, error, trace)

    for name in ("errors", "lowering", "typeinfer"):
        yield Patch(importlib.import_module(f"numba.core.{name}"), "new_error_context", ErrorContext)


def _run_passes() -> Iterator[Patch]:
    """A pass over a function, under the lock that is held already: without clocks, without events that nobody has asked for.

    What each pass is checked for is Numba's care for its own: that they leave no mark of a variable's end, and one scope.
    """
    from numba.core import compiler_machinery as machinery, event, postproc, transforms

    errors: Any = importlib.import_module("numba.core.errors")
    manager: Any = machinery.PassManager
    run, registry = manager._runPass, machinery._pass_registry

    @functools.wraps(run)
    def run_pass(self: Any, index: int, one: Any, state: Any) -> None:
        heard_by_others = any(who is not interrupts.listener() for who in event._registered["numba:run_pass"])
        if self._print_before or self._print_after or self._print_wrap or heard_by_others:
            run(self, index, one, state)
            return
        interrupts.raise_if_interrupted()
        one.analysis = self._analysis
        with errors.new_error_context("Pass {name}", name=one.name()):
            changed = one.run_initialization(state)
            changed |= one.run_pass(state)
            changed |= one.run_finalizer(state)
        if self._ENFORCING and registry.get(one.__class__).mutates_CFG:
            function = state.func_ir
            if changed:
                postproc.PostProcessor(function).run()
            else:
                function.blocks = transforms.canonicalize_cfg(function.blocks)

    yield Patch(manager, "_runPass", run_pass)


def _order_one_template() -> Iterator[Patch]:
    """The order of a function's implementations for this target: most have one, for all targets."""
    from numba.core import utils
    from numba.core.typing import context

    order = utils.order_by_target_specificity

    @functools.wraps(order)
    def ordered(target: Any, templates: Any, fnkey: Any = "") -> Any:
        if len(templates) == 1 and getattr(templates[0], "metadata", {}).get("target", "generic") == "generic":
            return list(templates)
        return order(target, templates, fnkey=fnkey)

    for owner in (utils, context):
        yield Patch(owner, "order_by_target_specificity", ordered)


def _look_for_warnings_once() -> Iterator[Patch]:
    """Warnings while the types of a function are found: caught once for all of it, not anew for each of its variables."""
    from numba.core import typeinfer

    errors: Any = importlib.import_module("numba.core.errors")
    network: Any = typeinfer.ConstraintNetwork
    propagate = network.propagate

    class Within:
        """The context of one variable: what has been caught since it began was said of it."""

        __slots__ = "fixer", "where"

        def __init__(self, fixer: Any, filename: str | None = None, lineno: int | None = None) -> None:
            self.fixer, self.where = fixer, (filename, lineno)

        def __enter__(self) -> None:
            pass

        def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
            for one in self.fixer.caught:
                if issubclass(one.category, self.fixer._category):
                    place = self.where[0] or one.filename, self.where[1] or one.lineno, one.category
                    self.fixer._warnings[place].add(str(one.message))
                else:
                    self.fixer.others.append(one)
            self.fixer.caught.clear()

    @functools.wraps(propagate)
    def propagate_in_one(self: Any, typeinfer: Any) -> Any:
        fixer = typeinfer.warnings
        before = vars(fixer).get("caught"), vars(fixer).get("others")  # of a function that calls itself
        others: list[Any] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", fixer._category)
            try:
                fixer.caught, fixer.others = caught, others
                found = propagate(self, typeinfer)
            finally:
                fixer.caught, fixer.others = before
        for one in others:
            warnings.warn_explicit(str(one.message), one.category, one.filename, one.lineno)
        return found

    yield Patch(errors.WarningsFixer, "catch_warnings", lambda *args, **more: Within(*args, **more))
    yield Patch(network, "propagate", propagate_in_one)


def _ask_types_without_registers() -> Iterator[Patch]:
    """`isinstance` of Numba's types, which are of an abstract class, but none is registered as one: a class and its bases."""
    from numba.core.types import abstract

    yield Patch(abstract._TypeMetaclass, "__instancecheck__", type.__instancecheck__)


def _lock_quietly() -> Iterator[Patch]:
    """The lock around compiling, within which it is taken some thousand times more: each kernel above has a clock for it."""
    from numba.core import compiler_lock

    owner: Any = compiler_lock._CompilerLock
    yield Patch(owner, "acquire", lambda self: self._lock.acquire())
    yield Patch(owner, "release", lambda self: self._lock.release())


def _log_nothing() -> Iterator[Patch]:
    """Messages of passes for their developers, of each instruction."""

    class Silent:
        """A log that nobody reads."""

        def debug(self, *args: Any) -> None:
            pass

    for name in ("byteflow", "ssa"):
        module: Any = importlib.import_module(f"numba.core.{name}")
        if not module._logger.isEnabledFor(logging.DEBUG):
            yield Patch(module, "_logger", Silent())
