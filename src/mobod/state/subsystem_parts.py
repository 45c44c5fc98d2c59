"""Subsystems' resources in a state: their ranges of variables, slots for errors, and updates at the ends of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..value.stage import INSTANCE, MODEL, Stage
from .fields import OUTSIDE_MATTER, REMEMBERED, Record
from .resources import VARIABLES, Resources, Settings, own_copy, subsystem_order
from .variables import Variables

if TYPE_CHECKING:
    from ..value.annotations import Tree


class SubsystemParts(Variables):
    """The part of `State` that has subsystems' resources."""

    __slots__ = ()

    def auto_update_discrete_variables(self) -> None:
        """Give variables that update themselves their next values, where these are realized; no stage is lowered.

        Integrators do so at the beginning of each step; call it if you step without one.
        """
        self.end_step(self.time)

    def end_step(self, time: float) -> None:
        """A step ends here, and the next begins at *time*: variables that update themselves take their next values."""
        if self.resources is not None:
            self.resources.keep_updates(self)  # type: ignore[arg-type]
            self.resources.apply_updates(time)
        if self.tree.counts["measure_memory_size"]:
            self.record.measure_memory[:] = self.record.measure_next
        if self.tree.counts["bristle_rows"]:
            self.record.bristle_next[:] = self.record.bristle_now
            self.record.bristle_memory[:] = self.record.bristle_now

    def upd_resources(self) -> Resources:
        """The subsystems' resources, made if there are none yet."""
        if self.resources is None:
            self.resources = Resources(len(self.system.subsystems))
            if self.stage_number >= MODEL:
                self.resources.places = {name: dict(one) for name, one in self.tree.variable_places.items()}
        return self.resources

    def variable_places(self) -> dict[str, dict[int, tuple[int, int]]]:
        """The places of each subsystem's q, u and z; not to be changed."""
        resources = self.resources
        if resources is None:
            return self.tree.variable_places
        return resources.places if resources.places["q"] else resources.lay_out(subsystem_order(self.system), self.tree.owners)

    def slots(self, asked: str) -> Resources:
        """The resources with slots for errors and event triggers laid out, which needs INSTANCE."""
        allocating = self.resources is not None and self.resources.step == INSTANCE
        if self.stage_number < INSTANCE or allocating:
            self.refuse(asked, Stage.INSTANCE, MODEL if allocating else self.stage_number)
        resources = self.upd_resources()
        resources.lay_out_slots(self)  # type: ignore[arg-type]
        return resources

    def make_room(self, tree_before: Tree, before: Record) -> None:
        """Give subsystems' q, u and z their places in the record, after MODEL's hooks have allocated them.

        Where as many as before are allocated they keep their values, and otherwise take their initial ones.
        """
        resources, tree = self.resources, self.tree
        if resources is None:
            return
        places, old = resources.lay_out(subsystem_order(self.system), tree.owners), resources.places
        more = [sum(n for _, n in places[name].values()) - tree.sizes[name] for name in VARIABLES]
        resources.places = places
        if places == old and self.record is before:
            return
        record = tree.new_record(more=(more[0], more[1], more[2])) if any(more) else self.record
        for name in OUTSIDE_MATTER + REMEMBERED:
            getattr(record, name)[:] = getattr(self.record, name)
        for name in VARIABLES:
            target, source, now = getattr(record, name), getattr(before, name), getattr(self.record, name)
            target[: tree.sizes[name]] = now[: tree.sizes[name]]
            for subsystem, (start, n) in places[name].items():
                skip, skipped = tree.owners[name].get(subsystem, 0), tree_before.owners[name].get(subsystem, 0)
                values = resources.initial(name, subsystem)
                was, had = old[name].get(subsystem, (0, -1))
                if had - skipped == len(values):
                    values = source[was + skipped : was + had, 0].copy()
                target[start + skip : start + n, 0] = values
        self.valid = 0
        self.attach_own(tree, record)

    def settings(self, before: Settings | None = None) -> Settings:
        """Subsystems' discrete variables that do not update themselves; see `Resources.settings`."""
        return {} if self.resources is None else self.resources.settings(self.system, before)

    def take_settings(self, settings: Settings) -> None:
        """Give these variables their values; the modelling choices among them first, which others may depend on."""
        resources = self.resources
        if resources is None:
            return
        for choices in (True, False):
            for (subsystem, index), (_, value) in settings.items():
                variables = resources.part(subsystem).variables
                if index < len(variables) and choices == (variables[index].invalidates <= MODEL):
                    resources.change(subsystem, index, self.time).value = own_copy(value, self.system)
                    self.invalidate_from(variables[index].invalidates)
            if self.stage_number < MODEL:
                self.system.realize_model(self)  # type: ignore[arg-type]  # which it is a part of
