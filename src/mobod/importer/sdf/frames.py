"""Poses of the frames of SDF scopes, and the links they are fixed to.

Everything that has a pose has a frame, and so has a scope itself (``__model__``, ``world``); names in nested models are
``nested::name``. By default a link's and a nested model's pose is in its model, a joint's in its child's frame, a frame's in
what it is attached to. A model whose ``placement_frame`` is named is put such that this frame has the model's pose. Source:
"Pose frame semantics" of http://sdformat.org/tutorials.
"""

from __future__ import annotations

from typing import NamedTuple

from ...errors import ModelError
from ...value import Transform
from ...value.checks import suggest
from ..mechanism.reading import Place
from .document import Frame, Joint, Link, Scope

IDENTITY = Transform()


class Body(NamedTuple):
    """A link of a scope; none is the world's own body."""

    scope: Scope
    link: str


class Frames:
    """Finds poses in the outermost scope, once each."""

    def __init__(self) -> None:
        self._X: dict[tuple[int, str], Transform] = {}
        self._bodies: dict[tuple[int, str], Body | None] = {}
        self._X_of_scope: dict[int, Transform] = {}
        self._open: list[tuple[int, str, str]] = []

    def X_W(self, scope: Scope, name: str, place: Place) -> Transform:
        """The pose of a frame by its name in a scope, in the outermost scope's frame."""
        return self.X_WS(scope) @ self._X_S(scope, name, place)

    def X_WS(self, scope: Scope) -> Transform:
        """The pose of a scope's own frame in the outermost scope's frame."""
        key = id(scope)
        if key not in self._X_of_scope:
            own = IDENTITY if scope.parent is None else self._placed(scope)
            self._X_of_scope[key] = self.X_WS(scope.parent) @ own if scope.parent is not None else self._at_top(scope)
        return self._X_of_scope[key]

    def body_of(self, scope: Scope, name: str, place: Place) -> Body | None:
        """The link that a frame is fixed to; None where that is the world."""
        key = id(scope), name
        if key not in self._bodies:
            self._enter(scope, name, "is attached to itself", place)
            self._bodies[key] = self._find_body(scope, name, place)
            self._open.pop()
        return self._bodies[key]

    # Poses

    def _at_top(self, scope: Scope) -> Transform:
        """A model by itself is at its pose, in a world without anything else."""
        return IDENTITY if scope.is_world else self._with_placement(scope)

    def _placed(self, scope: Scope) -> Transform:
        assert scope.parent is not None
        base = scope.pose.relative_to or "__model__"
        self._enter(scope, "__model__", "has a pose in itself", scope.place)
        X = self._X_S(scope.parent, base, scope.place) @ self._with_placement(scope)
        self._open.pop()
        return X

    def _with_placement(self, scope: Scope) -> Transform:
        if not scope.placement_frame:
            return scope.pose.X
        return scope.pose.X @ ~self._X_S(scope, scope.placement_frame, scope.place)

    def _X_S(self, scope: Scope, name: str, place: Place) -> Transform:
        """The pose of a frame in its scope's frame."""
        if name == "__model__" or (name == "world" and scope.is_world):
            return IDENTITY
        if name == "world":
            # as seen from a model: what is beyond its own frame has not been placed yet
            return ~self.X_WS(scope)
        key = id(scope), name
        if key not in self._X:
            self._enter(scope, name, "has a pose in itself", place)
            self._X[key] = self._calc_X_S(scope, name, place)
            self._open.pop()
        return self._X[key]

    def _calc_X_S(self, scope: Scope, name: str, place: Place) -> Transform:
        part, within = self._find(scope, name, place)
        if isinstance(part, Scope):
            X = self._placed(part)
            return X @ self._X_S(part, within, place) if within else X
        if isinstance(part, Link):
            default = "__model__"
        elif isinstance(part, Joint):
            default = part.child
        else:
            default = part.attached_to or "__model__"
        return self._X_S(scope, part.pose.relative_to or default, part.place) @ part.pose.X

    # Links

    def _find_body(self, scope: Scope, name: str, place: Place) -> Body | None:
        if name == "world":
            return None
        if name == "__model__":
            return None if scope.is_world else self._canonical(scope, place)
        part, within = self._find(scope, name, place)
        if isinstance(part, Scope):
            return self.body_of(part, within or "__model__", place)
        if isinstance(part, Link):
            return Body(scope, part.name)
        return self.body_of(scope, part.child if isinstance(part, Joint) else part.attached_to or "__model__", part.place)

    def _canonical(self, scope: Scope, place: Place) -> Body | None:
        if scope.canonical:
            return self.body_of(scope, scope.canonical, scope.place)
        if scope.links:
            return Body(scope, next(iter(scope.links)))
        for model in scope.models.values():
            return self.body_of(model, "__model__", place)
        if scope.static:  # of frames alone, which are in the world
            return None
        raise ModelError(f"{scope.place}: {scope!r} has no links, and something is fixed to it")

    # Names

    def _find(self, scope: Scope, name: str, place: Place) -> tuple[Link | Joint | Frame | Scope, str]:
        """The meaning of a name in a scope: a part of it, or a nested scope and a name in that."""
        for things in (scope.links, scope.frames, scope.joints, scope.models):
            if name in things:
                return things[name], ""
        # the longest prefix first: names of older files hold :: themselves
        words = name.split("::")
        for count in range(len(words) - 1, 0, -1):
            nested = scope.models.get("::".join(words[:count]))
            if nested is not None:
                return nested, "::".join(words[count:])
        known = [*scope.links, *scope.frames, *scope.joints, *scope.models]
        gone = f" (the included models {', '.join(map(repr, sorted(scope.missing)))} are not there)" if scope.missing else ""
        raise ModelError(f"{place}: {scope!r} has no link, joint, frame or model {name!r}{gone}; {suggest(name, known)}")

    def _enter(self, scope: Scope, name: str, problem: str, place: Place) -> None:
        key = id(scope), name, problem
        if key in self._open:
            through = [one[1] for one in self._open[self._open.index(key) :]]
            row = " -> ".join(map(repr, [*through[:8], name]))
            raise ModelError(f"{place}: {name!r} of {scope!r} {problem}: {row}")
        if len(self._open) > 300:
            raise ModelError(f"{place}: frames are relative to each other more than 300 deep")
        self._open.append(key)
