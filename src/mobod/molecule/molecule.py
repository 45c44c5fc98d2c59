"""Molecule: a system of rigid clusters of atoms that turn about bonds, and its forces.

Each cluster is a body, each turning bond a pin along it, so that coordinates are dihedral angles less those of the file. The
first cluster of a molecule is free, a lone atom slides, two in a line turn as a line. Source: Schwieters and Clore 2001,
Internal coordinates for molecular dynamics and minimization in structure determination and refinement.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import body as bodies, constraint, decoration, force, mobilizer
from ..algebra import atan2, cos, mat33, sin, sqrt, vec3
from ..algebra.arrays import Array
from ..errors import ModelError
from ..force.subsystem import GeneralForceSubsystem
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..system.matter import SimbodyMatterSubsystem
from ..system.system import MultibodySystem
from ..value import Inertia, MassProperties, Rotation, Transform
from ..value.checks import flag, instance, integer, positive
from ..value.stage import Stage
from .atoms import Atoms, element_of, read_pdb
from .force_field import ForceField
from .topology import Topology, across_bridges, clusters, find_topology, special_pairs, turning_bonds


def _arms(X: Any, parameters: Any) -> Any:
    """The atoms' places from their bodies' origins, and the three bonds: from b to a, from c to b, from c to d."""
    (Ra, pa), (Rb, pb), (Rc, pc), (Rd, pd) = X
    sa, sb = mat33.mul_vec(Ra, parameters[0:3]), mat33.mul_vec(Rb, parameters[3:6])
    sc, sd = mat33.mul_vec(Rc, parameters[6:9]), mat33.mul_vec(Rd, parameters[9:12])
    a, b, c, d = vec3.add(pa, sa), vec3.add(pb, sb), vec3.add(pc, sc), vec3.add(pd, sd)
    return (sa, sb, sc, sd), (vec3.sub(a, b), vec3.sub(b, c), vec3.sub(d, c))


def _angle(F: Any, G: Any, H: Any) -> Any:
    """The dihedral angle, the normals of its two planes, and the length of its axis."""
    A, B, length = vec3.cross(F, G), vec3.cross(H, G), sqrt(vec3.dot(G, G))
    return atan2(vec3.dot(vec3.cross(B, A), G), length * vec3.dot(A, B)), A, B, length


def _energy(t: Any, X: Any, q: Any, parameters: Any) -> Any:
    """k (1 + cos(n phi - d))."""
    _, bonds = _arms(X, parameters)
    phi, _, _, _ = _angle(bonds[0], bonds[1], bonds[2])
    return parameters[12] * (1.0 + cos(parameters[13] * phi - parameters[14]))


def _force(t: Any, X: Any, V: Any, q: Any, u: Any, parameters: Any) -> Any:
    """Minus the slope of the energy, on each of the four atoms."""
    (sa, sb, sc, sd), (F, G, H) = _arms(X, parameters)
    phi, A, B, length = _angle(F, G, H)
    torque = parameters[12] * parameters[13] * sin(parameters[13] * phi - parameters[14])
    onA, onB = vec3.scale(torque / vec3.dot(A, A), A), vec3.scale(torque / vec3.dot(B, B), B)
    fa, fd = vec3.scale(-length, onA), vec3.scale(length, onB)
    shift = vec3.sub(vec3.scale(vec3.dot(F, G) / length, onA), vec3.scale(vec3.dot(H, G) / length, onB))
    fb, fc = vec3.sub(shift, fa), vec3.neg(vec3.add(shift, fd))
    return ((vec3.cross(sa, fa), fa), (vec3.cross(sb, fb), fb), (vec3.cross(sc, fc), fc), (vec3.cross(sd, fd), fd)), ()


def add_bridge_torsions(
    forces: GeneralForceSubsystem, field: ForceField, found: Topology, bodies: Sequence[MobilizedBody], stations: Array
) -> None:
    """One force of all proper torsions that a bridge of sulphur is a bond of; bodies and stations are those of the atoms.

    PE = k (1 + cos(n phi - d)), phi being the dihedral angle of four atoms on any bodies. Source of phi and its slopes: Blondel
    and Karplus 1996, New formulation for derivatives of torsion angles and improper torsion angles in molecular mechanics.
    """
    neighbours = across_bridges(found)
    sets, rows = [], []
    for s, t in found.bridges:
        firsts, lasts = found.neighbours[s], found.neighbours[t]
        fours = [(b, s, t, c) for b in firsts for c in lasts]
        fours += [(a, b, s, t) for b in firsts for a in neighbours[b] if a != s]
        fours += [(s, t, c, d) for c in lasts for d in neighbours[c] if d != t]
        for a, b, c, d in fours:
            four = [a, b, c, d]
            for n, phase, k in field.torsion((found.kinds[a], found.kinds[b], found.kinds[c], found.kinds[d])):
                sets.append([bodies[one] for one in four])
                rows.append([*stations[four].ravel(), k, n, phase])
    if rows:
        functions = force.CompiledFunctions(_force, _energy, depends_only_on_positions=True)
        force.ForEach(forces, functions, bodies=sets, parameters=np.array(rows, float), name="torsions across bridges")


#: kJ/mol/K, and kJ/mol nm of two elementary charges. Source: CODATA 2018.
BOLTZMANN, COULOMB = 0.00831446261815324, 138.93545764
#: Colours and radii in pictures, nm.
_COLORS = {"H": "#dddddd", "C": "#555555", "N": "#3355cc", "O": "#cc3322", "S": "#ccaa22"}
_RADII = {"H": 0.025, "C": 0.04, "N": 0.04, "O": 0.04, "S": 0.05}
#: An inertia about a line, relative to the largest, below which a cluster is a line.
_THIN = 1e-6


class Molecule:
    """A system with torsion angles for coordinates; see `load_pdb` and `build_peptide`, which make one.

    Parameters
    ----------
    atoms : Atoms
    field : ForceField
    cutoff : float, optional
        Of Lennard-Jones and Coulomb forces, which go to zero there; nm. None unless given.
    dielectric : float
        Constant by which Coulomb forces are divided.
    hydrogens_turn : bool
        Whether methyl, hydroxyl and ammonium groups turn; they make steps several times as small.
    name : str

    Attributes
    ----------
    system, matter, forces
        Which thermostats, restraints and further parts may join.
    atoms : Atoms
    clusters : list of MobilizedBody
        A body each.
    torsions : dict of str to MobilizedBody
        The pins, by the names of the two atoms: ``"N-CA of ALA 3"``.
    nonbonded : force.Nonbonded

    Raises
    ------
    ModelError
        If a residue has no template, or bonds make no sense.

    Examples
    --------
    >>> from mobod.molecule import Molecule, build_peptide
    >>> Molecule(build_peptide("AG").atoms, cutoff=1.0, dielectric=4.0)
    <Molecule: 29 atoms of 4 residues in 5 clusters, 4 torsions>
    """

    def __init__(
        self,
        atoms: Atoms,
        field: ForceField | None = None,
        *,
        cutoff: float | None = None,
        dielectric: float = 1.0,
        hydrogens_turn: bool = False,
        name: str = "molecule",
    ) -> None:
        instance("atoms of a Molecule", atoms, Atoms, "mobod.molecule.read_pdb(path)")
        field = ForceField() if field is None else instance("field of a Molecule", field, ForceField, "ForceField(path)")
        self.atoms, self.topology = atoms, find_topology(atoms, field)
        turning = turning_bonds(atoms, self.topology, flag("hydrogens_turn", hydrogens_turn))
        self._number = np.array(clusters(self.topology, turning))
        parameters = [field.parameters(*one) for one in zip(self.topology.kinds, self.topology.charges, strict=True)]
        self.masses = np.array([one[0] for one in parameters])
        self.system = MultibodySystem(name)
        self.matter = SimbodyMatterSubsystem(self.system)
        self.forces = GeneralForceSubsystem(self.system)
        self.torsions: dict[str, MobilizedBody] = {}
        self._axes: dict[int, tuple[int, int]] = {}
        self.clusters, origins = self._build(turning)
        self._bodies = np.array([self.clusters[k].index for k in self._number])
        self._stations = atoms.places - origins[self._number]
        near, third = special_pairs(self.topology)
        self.nonbonded = force.Nonbonded(
            self.forces,
            self._bodies.tolist(),
            self._stations,
            sigma=[one[1] for one in parameters],
            epsilon=[one[2] for one in parameters],
            charges=[one[3] for one in parameters],
            coulomb=COULOMB / positive("dielectric", dielectric),
            cutoff=cutoff,
            excluded=near,
            scaled=third,
            scales=field.scales,
            name="nonbonded",
        )
        self._add_torsions(field)
        for a, b in self.topology.bridges:
            self._bridge(a, b)
        chosen = [self.clusters[k] for k in self._number]
        add_bridge_torsions(self.forces, field, self.topology, chosen, self._stations)

    # ------------------------------------------------------------------------------------------ what users call

    def default_state(self) -> State:
        """A state with the atoms where the file has them, at rest."""
        return self.system.realize_topology()

    def calc_places(self, state: State) -> Array:
        """Places of all atoms ``(n, 3)``, nm. Needs POSITION."""
        instance("state", state, State, "molecule.default_state()")
        X = np.array([np.asarray(body.get_body_transform(state)) for body in self.matter.body_list])
        X = X[self._bodies]
        return np.asarray(X[:, :3, 3] + np.einsum("nij,nj->ni", X[:, :3, :3], self._stations))

    def draw_speeds(self, state: State, temperature: float, seed: int = 0) -> None:
        """Give the state speeds of a temperature in K: u of the normal distribution of covariance k T M^-1.

        Clusters that are locked stay at rest. Where bridges of sulphur constrain the system, impulses take from these what
        breaks the bonds: a projection by the mass matrix, after which each degree of freedom that is left has its half k T
        still. The state is at VELOCITY then.

        Raises
        ------
        ModelError
            If the temperature is not positive.
        """
        instance("state", state, State, "molecule.default_state()")
        kT = BOLTZMANN * positive("temperature", temperature)
        self.system.realize(state, Stage.POSITION)
        free = self._free_speeds(state)
        M = self.matter.calc_m(state)[np.ix_(free, free)]
        draws = np.random.default_rng(integer("seed", seed, least=0)).normal(size=len(M))
        u = np.zeros(state.tree.nu)
        u[free] = np.sqrt(kT) * np.linalg.solve(np.linalg.cholesky(M).T, draws)
        state.u = u
        self.system.realize(state, Stage.VELOCITY)
        if self.topology.bridges:
            self.matter.fulfil_by_impulses(state)
            self.system.realize(state, Stage.VELOCITY)

    def calc_temperature(self, state: State) -> float:
        """The temperature that the kinetic energy stands for; K. Needs VELOCITY."""
        instance("state", state, State, "molecule.default_state()")
        dofs = len(self._free_speeds(state)) - self.matter.num_equations(state)[0]
        return float(2.0 * self.system.calc_kinetic_energy(state) / (BOLTZMANN * dofs))

    def _free_speeds(self, state: State) -> list[int]:
        """The numbers of the speeds of clusters that are not locked."""
        bodies = [body for body in list(self.matter.bodies)[1:] if not body.is_locked(state)]
        firsts = [(body.get_first_u_index(state), body.get_num_u(state)) for body in bodies]
        return [first + k for first, count in firsts for k in range(count)]

    def __repr__(self) -> str:
        return (
            f"<Molecule: {len(self.atoms)} atoms of {len(self.atoms.residue_names)} residues in {len(self.clusters)} clusters, "
            f"{len(self.torsions)} torsions>"
        )

    # ------------------------------------------------------------------------------------------ bodies

    def _build(self, turning: Sequence[tuple[int, int]]) -> tuple[list[MobilizedBody], Array]:
        count = int(self._number.max()) + 1
        joins: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for a, b in turning:
            joins[self._number[a]].append((a, b))
            joins[self._number[b]].append((b, a))
        origins = np.zeros((count, 3))
        made: dict[int, MobilizedBody] = {}
        for root in self._roots(joins):
            members = np.flatnonzero(self._number == root)
            origins[root] = self.masses[members] @ self.atoms.places[members] / self.masses[members].sum()
            made[root] = self._first(root, members, origins[root])
            waiting = [root]
            for k in waiting:
                for a, b in joins[k]:
                    child = int(self._number[b])
                    if child not in made:
                        origins[child] = self.atoms.places[b]
                        made[child] = self._next(made[k], a, b, origins[k])
                        waiting.append(child)
        return [made[k] for k in range(count)], origins

    def _roots(self, joins: list[list[tuple[int, int]]]) -> list[int]:
        """The cluster of each molecule from which chains are shortest, among those that can be free."""
        left, roots = set(range(len(joins))), []
        while left:
            start = min(left)
            group = self._by_distance(start, joins)
            far = max(group, key=lambda k: (group[k], k))
            one = self._by_distance(far, joins)
            other = self._by_distance(max(one, key=lambda k: (one[k], k)), joins)
            solid = [k for k in group if self._is_solid(k)] or list(group)
            roots.append(min(solid, key=lambda k: (max(one[k], other[k]), k)))
            left -= group.keys()
        return roots

    def _by_distance(self, start: int, joins: list[list[tuple[int, int]]]) -> dict[int, int]:
        found = {start: 0}
        waiting = [start]
        for k in waiting:
            for _, b in joins[k]:
                other = int(self._number[b])
                if other not in found:
                    found[other] = found[k] + 1
                    waiting.append(other)
        return found

    def _mass_properties(self, members: Any, origin: Array) -> MassProperties:
        r, m = self.atoms.places[members] - origin, self.masses[members]
        inertia = np.einsum("n,nij->ij", m, np.einsum("ni,ni->n", r, r)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None])
        return MassProperties(float(m.sum()), m @ r / m.sum(), Inertia(inertia))

    def _moments(self, k: int) -> Array:
        members = np.flatnonzero(self._number == k)
        center = self.masses[members] @ self.atoms.places[members] / self.masses[members].sum()
        return np.asarray(np.linalg.eigvalsh(np.asarray(self._mass_properties(members, center).inertia)))

    def _is_solid(self, k: int) -> bool:
        moments = self._moments(k)
        return bool(moments[0] > _THIN * moments[2] and moments[2] > 0.0)

    def _looks(self, part: bodies.Rigid, members: Any, origin: Array) -> None:
        inside = set(members.tolist())
        for a in members:
            letter = element_of(self.atoms.names[a])
            place = Transform(self.atoms.places[a] - origin)
            part.add_decoration(decoration.Sphere(_RADII.get(letter, 0.05), color=_COLORS.get(letter, "#aa66aa")), place)
            for b in self.topology.neighbours[a]:
                if a < b or b not in inside:
                    ends = self.atoms.places[a] - origin, self.atoms.places[b] - origin
                    part.add_decoration(decoration.Line(*ends, color="#777777", line_width=3.0))

    def _first(self, k: int, members: Any, origin: Array) -> MobilizedBody:
        part = bodies.Rigid(self._mass_properties(members, origin))
        self._looks(part, members, origin)
        name, X = self._name(members), Transform(origin)
        if self._is_solid(k):
            return mobilizer.Free(self.matter.ground, part, X_PF=X, name=name)
        if len(members) == 1:
            return mobilizer.Translation(self.matter.ground, part, X_PF=X, name=name)
        along = self.atoms.places[members[1]] - self.atoms.places[members[0]]
        R = _along(along)
        return mobilizer.FreeLine(self.matter.ground, part, X_PF=Transform(R, origin), X_BM=Transform(R), name=name)

    def _next(self, parent: MobilizedBody, a: int, b: int, origin: Array) -> MobilizedBody:
        """The cluster of atom b, which turns about its bond to a."""
        members, place = np.flatnonzero(self._number == self._number[b]), self.atoms.places[b]
        part = bodies.Rigid(self._mass_properties(members, place))
        self._looks(part, members, place)
        R = _along(place - self.atoms.places[a])
        pin = mobilizer.Pin(parent, part, X_PF=Transform(R, place - origin), X_BM=Transform(R), name=self._name(members))
        names = self.atoms.names
        self.torsions[f"{names[a]}-{names[b]} of {self.atoms.labels[self.atoms.residues[b]]}"] = pin
        self._axes[pin.index] = (a, b)
        return pin

    def _name(self, members: Any) -> str:
        first = int(members[0])
        return f"{self.atoms.names[first]} of {self.atoms.labels[self.atoms.residues[first]]}"

    # ------------------------------------------------------------------------------------------ forces

    def _add_torsions(self, field: ForceField) -> None:
        kinds, places = self.topology.kinds, self.atoms.places
        for pin in self.torsions.values():
            b, c = self._axes[pin.index]
            waves: dict[int, complex] = {}
            for a in self.topology.neighbours[b]:
                for d in self.topology.neighbours[c]:
                    if a != c and d != b and a != d:
                        now = _dihedral(*places[[a, b, c, d]])
                        for n, phase, k in field.torsion((kinds[a], kinds[b], kinds[c], kinds[d])):
                            waves[n] = waves.get(n, 0.0) + k * np.exp(1j * (phase - n * now))
            for n, wave in sorted(waves.items()):  # sums of cosines of one period are one
                if abs(wave) > 1e-12:
                    force.MobilityTorsion(self.forces, pin, 0, abs(wave), float(n), float(np.angle(wave)))

    def _bridge(self, a: int, b: int) -> None:
        """Two of sulphur at their distance, and each at its own from the other's neighbour: a bond with its angles."""
        pairs = [(a, b)]
        pairs += [(c, b) for c in self.topology.neighbours[a][:1]] + [(a, c) for c in self.topology.neighbours[b][:1]]
        for one, other in pairs:
            ends = [(self.clusters[self._number[i]], self._stations[i]) for i in (one, other)]
            length = float(np.linalg.norm(self.atoms.places[one] - self.atoms.places[other]))
            if self._number[one] == self._number[other]:
                raise ModelError(f"{self.atoms.label(one)} and {self.atoms.label(other)} are of one rigid cluster")
            constraint.Rod(ends[0][0], ends[0][1], ends[1][0], ends[1][1], length)


def _along(axis: Array) -> Rotation:
    """A rotation whose z points along an axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    return Rotation(np.column_stack([x, np.cross(z, x), z]))


def _dihedral(a: Array, b: Array, c: Array, d: Array) -> float:
    """The angle by which d is turned about the axis from b to c, from where a is."""
    axis = (c - b) / np.linalg.norm(c - b)
    one, other = a - b, d - c
    one, other = one - (one @ axis) * axis, other - (other @ axis) * axis
    return float(np.arctan2(np.cross(one, other) @ axis, one @ other))


def load_pdb(
    path: str | os.PathLike[str],
    force_field: ForceField | str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    *,
    leave_out: Sequence[str] = ("HOH", "WAT"),
    **settings: Any,
) -> Molecule:
    """Make a molecule of a PDB file.

    Parameters
    ----------
    path : path
        With hydrogens, by the names of the force field's templates.
    force_field : ForceField, path or sequence of paths, optional
        Files of OpenMM's format; the package's own small one, for ACE, ALA, GLY and NME, unless given.
    leave_out : sequence of str
        Residues that are not wanted; water unless given.
    **settings
        As `Molecule` takes them.

    Raises
    ------
    OSError
        If a file cannot be read.
    ModelError
        If a residue does not fit its template, or a file makes no sense.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mobod.molecule import build_peptide, load_pdb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "peptide.pdb"
    ...     build_peptide("AG").atoms.write_pdb(path)
    ...     molecule = load_pdb(path, cutoff=0.9)
    >>> molecule.nonbonded.get_cutoff()
    0.9
    """
    if force_field is None or isinstance(force_field, ForceField):
        field = force_field
    else:
        field = ForceField(*([force_field] if isinstance(force_field, str | os.PathLike) else force_field))
    return Molecule(read_pdb(path, leave_out=leave_out), field, **settings)
