"""The nominal system of a controller: which of its bodies stands for which of the plant's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ModelError, TopologyError
from ..tree import sampling

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem


class NominalSystem:
    """A system whose mobilizers have the names of the plant's.

    Parameters
    ----------
    system : MultibodySystem
    plant : MultibodySystem

    Raises
    ------
    TypeError
        If it is no system.
    ModelError
        If one of its mobilizers has no counterpart of the same kind and name, or Python computes it; if it is the plant.
    """

    def __init__(self, system: MultibodySystem, plant: MultibodySystem) -> None:
        if not hasattr(system, "get_matter_subsystem"):
            raise TypeError(f"model has to be a mobod.MultibodySystem, not {system!r}")
        if system is plant:
            raise ModelError("model is the plant itself, which a law is given where no model is named")
        self.system = system
        self.bodies = list(system.get_matter_subsystem().body_list)
        there = {body.name: body for body in plant.get_matter_subsystem().body_list}
        #: The number of the model's body for each body of the plant that is in it.
        self.counterparts: dict[int, int] = {}
        for body in self.bodies:
            if body.facts.num_u == 0:
                continue
            other = there.get(body.name)
            if other is None:
                raise ModelError(
                    f"{body!r} of the model has no counterpart: mobilizers of the plant and of its model go by name"
                )
            if type(other) is not type(body) or other.facts.num_q != body.facts.num_q:
                raise ModelError(f"{body!r} of the model and {other!r} of the plant, of one name, are of different kinds")
            if body.interpreter is not None:
                raise ModelError(f"{body!r} of the model is computed by Python, which compiled steps cannot call for a model")
            self.counterparts[other.index] = body.index
        self.nq = sum(body.facts.num_q for body in self.bodies)
        self.nu = sum(body.facts.num_u for body in self.bodies)
        #: What the law asks of it, as `tree.nominal` takes it.
        self.inputs: list[int] = []
        self.numbers: list[float] = []
        self.made = 0

    def clear(self) -> None:
        """Remove all requests."""
        self.inputs, self.numbers, self.made = [], [], 0

    def has(self, body: Any) -> bool:
        """True if a body is one of the model's."""
        return any(body is one for one in self.bodies)

    def body_for(self, body: Any) -> Any:
        """The model's body of the name of one of the plant's.

        Raises
        ------
        TopologyError
            If it has none.
        """
        name = getattr(body, "name", body)
        for one in self.bodies:
            if one.name == name:
                return one
        raise TopologyError(f"the model has no body {name!r}; it has {', '.join(one.name for one in self.bodies)}")

    def mobilities(self, plant: Any) -> list[tuple[Any, int]]:
        """The plant's mobilities that the model has, in the model's order."""
        of_model = {there: here for here, there in self.counterparts.items()}
        bodies = plant.get_matter_subsystem().body_list
        return [(bodies[of_model[one.index]], which) for one in self.bodies for which in range(one.facts.num_u)]

    def numbers_of(self, pairs: list[int]) -> list[float]:
        """The numbers of mobilities among the model's, of bodies of the plant and their numbers one after the other.

        Raises
        ------
        ModelError
            If the model has not all of them.
        """
        firsts, n = {}, 0
        for one in self.bodies:
            firsts[one.index] = n
            n += one.facts.num_u
        found = []
        for b, which in zip(pairs[::2], pairs[1::2], strict=True):
            if b not in self.counterparts:
                raise ModelError(f"the controller acts on mobilizer {b} of the plant, of whose name the model has none")
            found.append(float(firsts[self.counterparts[b]] + which))
        return found

    def ask(self, kind: int, size: int, *own: int) -> int:
        """Ask for an input of so many numbers; where they will be, from the first of the model's on."""
        out, self.made = self.made, self.made + size
        a, b = own if len(own) == 2 else (size, 0)
        self.inputs += [kind, out, a, b]
        return out

    def keep(self, numbers: list[float]) -> int:
        """The place of an input's numbers."""
        place, self.numbers = len(self.numbers), [*self.numbers, *numbers]
        return place


#: What a law names that is the model's where it has one.
OF_MODEL = {"q": sampling.Q, "u": sampling.U, "M": sampling.MASS_MATRIX, "bias": sampling.BIAS, "gravity": sampling.GRAVITY}

__all__: list[str] = []
