"""Nonbonded: Lennard-Jones and Coulomb forces between atoms that are fixed on bodies.

    V = s [4 eps ((sigma/r)^12 - (sigma/r)^6)] + s' k q_a q_b / r      sigma = (sigma_a + sigma_b) / 2, eps = sqrt(eps_a eps_b)

Within a cutoff c each is shifted so that energy and force are zero there: V(r) - V(c) - (r - c) V'(c). Atoms of one body, and
pairs that are excluded, do not act on each other; s and s' are less than 1 for pairs that are scaled, those three bonds apart.
Sources: Cornell and others 1995 (the law, s = 1/2, s' = 1/1.2); Allen and Tildesley 2017, 5.2 (shifted forces), 5.3.2 (cells).

Of one state an atom meets those before it eight at a time, in lanes; of eight states, Duals and formulas one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import mat33, vec3
from ..algebra.dual import Dual
from ..algebra.masks import both, in_any
from ..algebra.memory import add_spatial, load3, load9, store3
from ..algebra.scalar import bare, is_float, load, load_lane, num_lanes, one, sqrt, store, where, zero
from ..compiling import Routine, generic, of_arrays
from ..errors import ModelError
from ..value.checks import array, numbers, positive
from ._neighbours import FOUND, PLACES, POINTS, find, lay_out, make_room
from .base import Force, body_index, check_forces
from .pools import number, numbers3
from .routines import ENERGY, FORCES, add_stiffness, apart_of, stiffening
from .subsystem import GeneralForceSubsystem

# integers: atoms; whether there is a cutoff; then of each its body, and where its special pairs begin and end; then these,
# atoms and kinds
_ATOMS, _LIMITED, _FIRST, _EACH = 0, 1, 2, 3
#: More than the square of any distance.
_FARTHEST = 1e200
#: Kinds of pairs that are special.
EXCLUDED, SCALED = 0, 1
# numbers: cutoff (zero for none), k, s and s'; then of each atom a station, half its sigma, the root of eps, and its charge
_CUTOFF, _COULOMB, _OF_LJ, _OF_CHARGES, _OWN, _WIDTH = 0, 1, 2, 3, 4, 6
# rows of a block of eight atoms: of each its place; half its sigma, root of eps, charge; body; what multiplies its pair with
# the atom whose turn it is; and the force on it
_PLACE, _PARAMETERS, _BODY, _TIMES, _FORCE, _ROWS = 0, 3, 6, 7, 9, 12
#: Of what eights need: all atoms, those near one, and sums of lanes.
_ATOM, _NEAR, _SUM = 0, 1, 2


@generic
def _place(model: Any, i: int, x: int, a: int) -> Any:
    """The body of atom a, its arm from that body's origin and its place, in Ground."""
    b = model.force_integers[i + _FIRST + _EACH * a]
    arm = mat33.mul_vec(load9(model.R_GB, b, 0), numbers3(model, x + _OWN + _WIDTH * a))
    return b, arm, vec3.add(load3(model.p_GB, b, 0), arm)


@generic
def _coordinate(model: Any, i: int, x: int, a: int, lane: int, k: int) -> Any:
    """A coordinate of the place of atom a in one of the record's states, without tangents."""
    b = model.force_integers[i + _FIRST + _EACH * a]
    p = bare(load_lane(model.p_GB, b, k, lane))
    for j in range(3):
        p += bare(load_lane(model.R_GB, b, 3 * k + j, lane)) * _value(model, x + _OWN + _WIDTH * a + j, lane)
    return p


@generic
def _value(model: Any, at: int, lane: int) -> Any:
    """One of the numbers of one of the record's states, without tangents."""
    return bare(load_lane(model.force_numbers, at, 0, lane))


@generic
def _laid_out(model: Any, i: int, x: int, cutoff: float, room: Any) -> bool:
    """Put the atoms into cells; False where all pairs are to be looked at."""
    n = model.force_integers[i + _ATOMS]
    if n < POINTS or model.force_integers[i + _LIMITED] == 0:
        return False
    for lane in range(len(room[PLACES])):
        for a in range(n):
            for k in range(3):
                room[PLACES][lane, 3 * a + k] = _coordinate(model, i, x, a, lane, k)
    return lay_out(room, n, cutoff)


@generic
def _reach(model: Any, x: int) -> float:
    """The largest cutoff of the record's states."""
    found = 0.0
    for lane in range(num_lanes(load(model.time, 0, 0))):
        found = max(found, _value(model, x + _CUTOFF, lane))
    return found


@generic
def _law_of(model: Any, i: int, x: int, a: int, b: int, scaled: bool, rr: Any) -> Any:
    """`_law` of atoms a and b."""
    one_of, other = numbers3(model, x + _OWN + _WIDTH * a + 3), numbers3(model, x + _OWN + _WIDTH * b + 3)
    k, c = number(model, x + _COULOMB), number(model, x + _CUTOFF)
    times = one(k), one(k)
    if scaled:
        times = number(model, x + _OF_LJ), number(model, x + _OF_CHARGES)
    return _law(model.force_integers[i + _LIMITED] == 1, c, _mixed(k, one_of, other, times), rr)


@generic
def _mixed(k: Any, a: Any, b: Any, times: Any) -> Any:
    """Sigma, 4 eps and k q_a q_b of a pair, of the parameters of both."""
    return a[0] + b[0], 4.0 * a[1] * b[1] * times[0], k * a[2] * b[2] * times[1]


@generic
def _law(limited: bool, c: Any, pair: Any, rr: Any) -> Any:
    """Energy, and force over distance, of a pair whose distance squared is rr."""
    V, f, r = _pair(pair, rr)
    if limited:
        V_c, f_c, _ = _pair(pair, c * c)
        slope = f_c * c  # the force at the cutoff
        V, f = V + (r - c) * slope - V_c, f - slope / r
    return V, f


@generic
def _pair(pair: Any, rr: Any) -> Any:
    sigma, eps, charge = pair
    over = 1.0 / rr
    r = sqrt(rr)
    six = sigma * sigma * over
    six = six * six * six
    electric = charge * (r * over)
    return eps * (six * six - six) + electric, (eps * (12.0 * six * six - 6.0 * six) + electric) * over, r


@generic
def _kind_of(model: Any, i: int, at: int, end: int, b: int) -> Any:
    """The place among an atom's special pairs, from *at* on, of that with b, and True if it is there."""
    first = i + _FIRST + _EACH * model.force_integers[i + _ATOMS]
    while at < end and model.force_integers[first + 2 * at] < b:
        at += 1
    there = at < end and model.force_integers[first + 2 * at] == b
    return at, there, there and model.force_integers[first + 2 * at + 1] == SCALED


@generic
def _near(model: Any, i: int, x: int, apart: Any) -> Any:
    """True if a pair acts, and its distance squared; else 1, a safe divisor."""
    rr, most = vec3.dot(apart, apart), _FARTHEST * one(apart[0])
    if model.force_integers[i + _LIMITED] == 1:
        cutoff = number(model, x + _CUTOFF)
        most = cutoff * cutoff
    near = rr < most
    return near, where(near, rr, one(rr))


@generic
def _add(model: Any, i: int, x: int, room: Any) -> None:
    n = model.force_integers[i + _ATOMS]
    reach = _reach(model, x)
    in_cells = _laid_out(model, i, x, reach, room)
    for a in range(n):
        body, arm, p = _place(model, i, x, a)
        o = zero(p[0])
        f = o, o, o
        at = model.force_integers[i + _FIRST + _EACH * a + 1]
        end = model.force_integers[i + _FIRST + _EACH * a + 2]
        for k in range(find(room, a, reach) if in_cells else a):
            b = room[FOUND][k] if in_cells else k
            at, special, scaled = _kind_of(model, i, at, end, b)
            if model.force_integers[i + _FIRST + _EACH * b] != body and (scaled or not special):
                other, arm_b, p_b = _place(model, i, x, b)
                apart = vec3.sub(p, p_b)
                near, rr = _near(model, i, x, apart)
                _, push = _law_of(model, i, x, a, b, scaled, rr)
                force = vec3.scale(where(near, push, zero(push)), apart)
                f = vec3.add(f, force)
                back = vec3.neg(force)
                add_spatial(model.body_forces, other, vec3.cross(arm_b, back), back)
        add_spatial(model.body_forces, body, vec3.cross(arm, f), f)


@generic
def _stiffen(model: Any, i: int, x: int, stiff: Any) -> None:
    """Add the stiffness of all pairs, see `stiffening`."""
    n, reach = model.force_integers[i + _ATOMS], _reach(model, x)
    room = make_room(n, num_lanes(load(model.time, 0, 0)))
    in_cells = _laid_out(model, i, x, reach, room)
    for a in range(n):
        body = model.force_integers[i + _FIRST + _EACH * a]
        at = model.force_integers[i + _FIRST + _EACH * a + 1]
        end = model.force_integers[i + _FIRST + _EACH * a + 2]
        for k in range(find(room, a, reach) if in_cells else a):
            b = room[FOUND][k] if in_cells else k
            at, special, scaled = _kind_of(model, i, at, end, b)
            other = model.force_integers[i + _FIRST + _EACH * b]
            if other != body and (scaled or not special):
                apart = apart_of(stiff, a, b)
                near, rr = _near(model, i, x, apart)
                if in_any(near):
                    _, push = _law_of(model, i, x, a, b, scaled, Dual(rr, (2.0 * one(rr),)))
                    rates = where(near, push.value, zero(rr)), where(near, push.tangents[0], zero(rr))
                    add_stiffness(stiff, (a, b), (body, other), apart, rates)


@generic
def _energy(model: Any, i: int, x: int, room: Any) -> Any:
    n, total = model.force_integers[i + _ATOMS], zero(load(model.time, 0, 0))
    reach = _reach(model, x)
    in_cells = _laid_out(model, i, x, reach, room)
    for a in range(n):
        body, _, p = _place(model, i, x, a)
        at = model.force_integers[i + _FIRST + _EACH * a + 1]
        end = model.force_integers[i + _FIRST + _EACH * a + 2]
        for k in range(find(room, a, reach) if in_cells else a):
            b = room[FOUND][k] if in_cells else k
            at, special, scaled = _kind_of(model, i, at, end, b)
            if model.force_integers[i + _FIRST + _EACH * b] != body and (scaled or not special):
                _, _, p_b = _place(model, i, x, b)
                near, rr = _near(model, i, x, vec3.sub(p, p_b))
                V, _ = _law_of(model, i, x, a, b, scaled, rr)
                total = total + where(near, V, zero(V))
    return total


@of_arrays
def _make_blocks(n: int) -> Any:
    """Blocks of eight of n atoms, of those near one of them, and of the sums of lanes."""
    return np.zeros((n // 8 + 1, _ROWS, 8)), np.zeros((n // 8 + 1, _ROWS, 8)), np.zeros((1, 4, 8))


@generic
def _fill(model: Any, i: int, x: int, atoms: Any) -> None:
    """Put all atoms into blocks."""
    for a in range(model.force_integers[i + _ATOMS]):
        block, lane = a // 8, a % 8
        for k in range(3):
            atoms[block, _PLACE + k, lane] = _coordinate(model, i, x, a, 0, k)
            atoms[block, _PARAMETERS + k, lane] = _value(model, x + _OWN + _WIDTH * a + 3 + k, 0)
        atoms[block, _BODY, lane] = model.force_integers[i + _FIRST + _EACH * a]
        atoms[block, _TIMES, lane], atoms[block, _TIMES + 1, lane] = 1.0, 1.0


@generic
def _set_special(model: Any, i: int, x: int, a: int, atoms: Any, now: bool) -> None:
    """For the turn of atom a let others stand aside, as though of its body, or count by their scale; after it as before."""
    first = i + _FIRST + _EACH * model.force_integers[i + _ATOMS]
    own = model.force_integers[i + _FIRST + _EACH * a]
    for at in range(model.force_integers[i + _FIRST + _EACH * a + 1], model.force_integers[i + _FIRST + _EACH * a + 2]):
        b = model.force_integers[first + 2 * at]
        block, lane = b // 8, b % 8
        if model.force_integers[first + 2 * at + 1] == EXCLUDED:
            atoms[block, _BODY, lane] = own if now else model.force_integers[i + _FIRST + _EACH * b]
        else:
            atoms[block, _TIMES, lane] = _value(model, x + _OF_LJ, 0) if now else 1.0
            atoms[block, _TIMES + 1, lane] = _value(model, x + _OF_CHARGES, 0) if now else 1.0


@generic
def _pick(count: int, found: Any, atoms: Any, near: Any) -> None:
    """The atoms that were found, side by side, with no forces yet."""
    for k in range(count):
        b = found[k]
        for row in range(_FORCE):
            near[k // 8, row, k % 8] = atoms[b // 8, row, b % 8]
        for row in range(_FORCE, _ROWS):
            near[k // 8, row, k % 8] = 0.0


@generic
def _give_back(count: int, found: Any, atoms: Any, near: Any) -> None:
    for k in range(count):
        b = found[k]
        for row in range(_FORCE, _ROWS):
            atoms[b // 8, row, b % 8] += near[k // 8, row, k % 8]


@generic
def _meet(model: Any, i: int, x: int, a: int, atoms: Any, others: Any, count: int, sums: Any) -> None:
    """Atom a and the first so many others: the force on it, and the energy, each in eight parts; forces on the others."""
    limited, body = model.force_integers[i + _LIMITED] == 1, atoms[a // 8, _BODY, a % 8]
    k, c = _value(model, x + _COULOMB, 0), _value(model, x + _CUTOFF, 0)
    p = atoms[a // 8, _PLACE, a % 8], atoms[a // 8, _PLACE + 1, a % 8], atoms[a // 8, _PLACE + 2, a % 8]
    own = atoms[a // 8, _PARAMETERS, a % 8], atoms[a // 8, _PARAMETERS + 1, a % 8], atoms[a // 8, _PARAMETERS + 2, a % 8]
    for rest in range(count, (count + 7) // 8 * 8):
        others[rest // 8, _BODY, rest % 8] = body  # they stand aside
    most = c * c if limited else _FARTHEST
    V = zero(load(others, 0, _PLACE))
    f = V, V, V
    for block in range((count + 7) // 8):
        apart = vec3.sub(p, load3(others, block, _PLACE))
        rr = vec3.dot(apart, apart)
        acts = both(load(others, block, _BODY) != body, rr < most)
        rr = where(acts, rr, 1.0)
        times = load(others, block, _TIMES), load(others, block, _TIMES + 1)
        energy, push = _law(limited, c, _mixed(k, own, load3(others, block, _PARAMETERS), times), rr)
        force = vec3.scale(where(acts, push, 0.0), apart)
        V, f = V + where(acts, energy, 0.0), vec3.add(f, force)
        store3(others, block, _FORCE, vec3.sub(load3(others, block, _FORCE), force))
    store3(sums, 0, 0, f)
    store(sums, 0, 3, V)


@generic
def _in_eights(model: Any, i: int, x: int, room: Any, blocks: Any) -> float:
    """The energy of one state; forces on the atoms, in their blocks."""
    n, total = model.force_integers[i + _ATOMS], 0.0
    atoms, near, sums = blocks[_ATOM], blocks[_NEAR], blocks[_SUM]
    reach = _reach(model, x)
    in_cells = _laid_out(model, i, x, reach, room)
    _fill(model, i, x, atoms)
    for a in range(n):
        _set_special(model, i, x, a, atoms, True)
        if in_cells:
            count = find(room, a, reach)
            _pick(count, room[FOUND], atoms, near)
            _meet(model, i, x, a, atoms, near, count, sums)
            _give_back(count, room[FOUND], atoms, near)
        else:
            _meet(model, i, x, a, atoms, atoms, a, sums)
            for rest in range(a, min(n, (a + 7) // 8 * 8)):
                atoms[rest // 8, _BODY, rest % 8] = model.force_integers[i + _FIRST + _EACH * rest]
        _set_special(model, i, x, a, atoms, False)
        for lane in range(8):
            total += sums[0, 3, lane]
            for k in range(3):
                atoms[a // 8, _FORCE + k, a % 8] += sums[0, k, lane]
    return total


@generic
def _hand_on(model: Any, i: int, x: int, atoms: Any) -> None:
    """The forces of blocks to the atoms' bodies."""
    for a in range(model.force_integers[i + _ATOMS]):
        body, arm, p = _place(model, i, x, a)
        o = zero(p[0])
        f = atoms[a // 8, _FORCE, a % 8], atoms[a // 8, _FORCE + 1, a % 8], atoms[a // 8, _FORCE + 2, a % 8]
        f = o + f[0], o + f[1], o + f[2]
        add_spatial(model.body_forces, body, vec3.cross(arm, f), f)


def _run(model: Any, first: int, end: int, what: int) -> int:
    time = load(model.time, 0, 0)
    for e in range(first, end):
        if model.force_enabled[e] == 1:
            i, x = model.force_first_integer[e], model.force_first_number[e]
            n = model.force_integers[i + _ATOMS]
            room = make_room(n, num_lanes(time))
            if is_float(time):
                blocks = _make_blocks(n)
                energy = _in_eights(model, i, x, room, blocks)
                if what == FORCES:
                    _hand_on(model, i, x, blocks[_ATOM])
                elif what == ENERGY:
                    store(model.work_e, e, 0, energy)
            elif what == FORCES:
                _add(model, i, x, room)
            elif what == ENERGY:
                store(model.work_e, e, 0, _energy(model, i, x, room))
    return 0


class Nonbonded(Force):
    """Lennard-Jones and Coulomb forces between atoms fixed on bodies: one element, one compiled loop over pairs in cells.

    Parameters
    ----------
    bodies : sequence of MobilizedBody
        The body of each of n atoms, by object, index or name.
    stations : (n, 3) array_like
        Where each is, in its body's frame; length.
    sigma : (n,) array_like
        Of Lennard and Jones, of each; the mean of two is a pair's. Length, zero where it has none.
    epsilon : (n,) array_like
        Depth, of each; the root of the product of two is a pair's. Energy.
    charges : (n,) array_like
        Of each.
    coulomb : float
        k of k q_a q_b / r: energy*length/charge^2; 138.935 in nm, kJ/mol and elementary charges, over the dielectric constant.
    cutoff : float, optional
        Distance beyond which pairs do not act on each other; energy and force go to zero there. None unless given.
    excluded : iterable of pairs of int
        Pairs of atoms that do not act on each other, such as those one and two bonds apart.
    scaled : iterable of pairs of int
        Pairs whose energy is multiplied by *scales*, such as those three bonds apart.
    scales : pair of float
        Of Lennard-Jones, and of Coulomb energies.

    Raises
    ------
    ModelError
        If a number is not finite, or sigma, epsilon or the cutoff is below zero; if a pair is both excluded and scaled.
    ValueError, IndexError, TypeError, TopologyError
        If arrays have the wrong shape, or pairs or bodies are none.

    Notes
    -----
    Atoms on one body never act on each other: their energy is constant. Of fewer than 48 atoms, and without a cutoff, all
    pairs are looked at; others are put into cells as large as the cutoff, anew in each evaluation. One state's pairs go eight
    at a time; those of states in lanes, and of exact derivatives, one by one, by the same law: Cornell and others 1995 (Amber).

    Examples
    --------
    Two atoms of argon, in nm and kJ/mol, at the distance of least energy:

    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> forces = mb.GeneralForceSubsystem(system)
    >>> atom = mb.body.Rigid(mb.MassProperties(39.9, (0, 0, 0), mb.Inertia(0, 0, 0)))
    >>> a, b = (mb.mobilizer.Translation(matter.ground, atom) for _ in range(2))
    >>> pair = mb.force.Nonbonded(forces, [a, b], [[0, 0, 0]] * 2, sigma=[0.34] * 2, epsilon=[0.997] * 2, charges=[0, 0])
    >>> state = system.realize_topology()
    >>> b.set_q(state, (0.34 * 2 ** (1 / 6), 0, 0))
    >>> system.realize(state)
    >>> round(pair.calc_potential_energy_contribution(state), 6)
    -0.997
    """

    routine, stiffness_routine = Routine(_run, makes_arrays=True), stiffening(_stiffen, _place)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        bodies: Iterable[Any],
        stations: npt.ArrayLike,
        *,
        sigma: npt.ArrayLike,
        epsilon: npt.ArrayLike,
        charges: npt.ArrayLike,
        coulomb: float = 138.935456,
        cutoff: float | None = None,
        excluded: Iterable[tuple[int, int]] = (),
        scaled: Iterable[tuple[int, int]] = (),
        scales: tuple[float, float] = (0.5, 1.0 / 1.2),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        check_forces(forces)
        listed = [body_index(forces, "a body of an atom", body) for body in bodies]
        n = len(listed)
        places = array("stations", stations, (n, 3))
        size, depth, charge = (
            array(what, values, (n,)) for what, values in (("sigma", sigma), ("epsilon", epsilon), ("charges", charges))
        )
        for what, values in (("sigma", size), ("epsilon", depth)):
            if (values < 0.0).any():
                a = int(np.argmin(values))
                raise ModelError(f"{what} of atom {a} is below zero: {values[a]}")
        reach = 0.0 if cutoff is None else positive("cutoff", cutoff)
        special = _special(n, excluded, scaled)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        factors = [*numbers("coulomb", coulomb).reshape(1), *array("scales", scales, (2,))]
        own = np.column_stack([places, size / 2.0, np.sqrt(depth), charge])
        integers, at = [n, int(cutoff is not None)], 0
        for body, pairs in zip(listed, special, strict=True):
            integers += [body, at, at + len(pairs)]
            at += len(pairs)
        self.default_integers = integers + [i for pairs in special for pair in sorted(pairs.items()) for i in pair]
        self.default_numbers = [reach, *map(float, factors), *own.ravel().tolist()]
        self._bodies = sorted(set(listed))

    def reach(self) -> tuple[list[int], list[int]]:
        return self._bodies, []

    def get_num_atoms(self) -> int:
        """Number of atoms."""
        return int(self.default_integers[0])

    def get_cutoff(self) -> float:
        """Distance beyond which pairs do not act on each other; infinite where there is none."""
        return float(self.default_numbers[0]) or np.inf


def _special(n: int, excluded: Iterable[tuple[int, int]], scaled: Iterable[tuple[int, int]]) -> list[dict[int, int]]:
    """Of each atom the ones before it that it does not act on as usual."""
    found: list[dict[int, int]] = [{} for _ in range(n)]
    for kind, pairs in ((EXCLUDED, excluded), (SCALED, scaled)):
        for pair in pairs:
            a, b = (int(i) for i in pair)
            if not (0 <= a < n and 0 <= b < n) or a == b:
                raise IndexError(f"there are {n} atoms, counted from 0; ({a}, {b}) is no pair of them")
            a, b = max(a, b), min(a, b)
            if found[a].get(b, kind) != kind:
                raise ModelError(f"the pair ({b}, {a}) is both excluded and scaled")
            found[a][b] = kind
    return found
