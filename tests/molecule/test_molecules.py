"""Molecules on torsion angles: clusters, energies and forces beside OpenMM's, files, temperatures."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import mobod as mb
from mobod.molecule import ForceField, Molecule, build_peptide, load_pdb
from mobod.molecule.atoms import Atoms
from mobod.molecule.force_field import OWN
from mobod.molecule.molecule import BOLTZMANN, _dihedral
from mobod.molecule.topology import special_pairs

SEED = 4
REFERENCE = Path(__file__).with_name("openmm.json")


def bent(molecule, seed=SEED, size=0.3):
    """A state whose torsions are off by random angles, realized."""
    print("seed", seed)
    state = molecule.default_state()
    q = state.q.copy()
    q[7:] += size * np.random.default_rng(seed).normal(size=len(q) - 7)
    state.q = q
    molecule.system.realize(state)
    return state


def generalized(molecule, state):
    """All forces along the coordinates."""
    system, matter = molecule.system, molecule.matter
    return matter.multiply_by_system_jacobian_transpose(
        state, system.get_rigid_body_forces(state)
    ) + system.get_mobility_forces(state)


def along_torsions(molecule, state, forces):
    """J^T of forces on the atoms (n, 3)."""
    places = molecule.calc_places(state)
    on_bodies = np.zeros((state.tree.nb, 2, 3))
    for b, r, f in zip(molecule._bodies, places, forces, strict=True):
        origin = molecule.matter.bodies[int(b)].get_body_origin_location(state)
        on_bodies[b, 0] += np.cross(r - origin, f)
        on_bodies[b, 1] += f
    return molecule.matter.multiply_by_system_jacobian_transpose(state, on_bodies)


def test_a_helix_has_the_angles_that_it_was_asked_for_and_hands_of_nature():
    atoms = build_peptide("AGA", phi=[-57, -60, -70], psi=[-47, -40, 120]).atoms
    at = {(r, name): p for r, name, p in zip(atoms.residues, atoms.names, atoms.places, strict=True)}
    for r, phi, psi in ((1, -57, -47), (2, -60, -40), (3, -70, 120)):
        four = [at[r - 1, "C"], at[r, "N"], at[r, "CA"], at[r, "C"], at[r + 1, "N"]]
        assert abs(np.degrees(_dihedral(*four[:4])) - phi) < 1e-9 and abs(np.degrees(_dihedral(*four[1:])) - psi) < 1e-9
    N, C, CB = (at[1, name] - at[1, "CA"] for name in ("N", "C", "CB"))
    assert np.cross(N, C) @ CB > 0.0  # L
    apart = np.linalg.norm(atoms.places[:, None] - atoms.places, axis=2) + np.eye(len(atoms))
    assert apart.min() > 0.09


def test_what_turns():
    helix = build_peptide("AAG")
    assert len(helix.torsions) == 6 and len(helix.clusters) == 7  # phi and psi of each; peptide bonds are rigid
    assert set(helix.torsions) >= {"N-CA of ALA 1"} or "CA-N of ALA 1" in helix.torsions
    more = build_peptide("AAG", settings={"hydrogens_turn": True})
    assert len(more.torsions) == 6 + 2 + 2  # methyl groups of two side chains, and of the caps
    state = more.default_state()
    assert np.abs(more.calc_places(state) - more.atoms.places).max() < 1e-14 if more.system.realize(state) is None else True


def test_energies_and_forces_are_those_that_openmm_gave():
    """Kept numbers of OpenMM 8.6's reference platform, by the same force field file; energies but for a constant."""
    kept = json.loads(REFERENCE.read_text())
    molecule = build_peptide(kept["sequence"])
    energies = []
    for seed, forces in zip(kept["seeds"], kept["forces"], strict=True):
        state = bent(molecule, seed)
        energies.append(molecule.system.calc_potential_energy(state))
        assert np.abs(generalized(molecule, state)[6:] - forces).max() < 1e-6 * np.abs(forces).max()
    off = np.array(energies) - kept["energies"]
    assert np.ptp(off) < 1e-6


def test_energies_and_forces_are_openmms_where_it_is_installed():
    openmm = pytest.importorskip("openmm")
    from openmm import app, unit

    molecule = build_peptide("AGAA")
    atoms, topology = molecule.atoms, app.Topology()
    chain, made = topology.addChain(), []
    residues = [topology.addResidue(name, chain) for name in atoms.residue_names]
    for name, r in zip(atoms.names, atoms.residues, strict=True):
        made.append(topology.addAtom(name, app.Element.getBySymbol(name[0]), residues[r]))
    for a, b in molecule.topology.bonds:
        topology.addBond(made[a], made[b])
    field = app.ForceField(str(OWN)).createSystem(topology, nonbondedMethod=app.NoCutoff)
    context = openmm.Context(field, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference"))
    energies = []
    for seed in (1, 2, 3):
        state = bent(molecule, seed)
        context.setPositions(molecule.calc_places(state) * unit.nanometer)
        found = context.getState(getEnergy=True, getForces=True)
        energy = found.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)
        forces = np.array(found.getForces(asNumpy=True).value_in_unit(unit.kilojoule_per_mole / unit.nanometer))
        energies.append(molecule.system.calc_potential_energy(state) - energy)
        wanted = along_torsions(molecule, state, forces)
        assert np.abs(generalized(molecule, state)[6:] - wanted[6:]).max() < 1e-7 * np.abs(wanted).max()
    assert np.ptp(energies) < 1e-7


def test_cells_give_the_sum_over_all_pairs_alone_and_in_lanes():
    """The truth is the law in NumPy, of each pair within the cutoff."""
    cutoff, molecule = 0.5, build_peptide("A" * 8, settings={"cutoff": 0.5})
    nb, n = molecule.nonbonded, len(molecule.atoms)
    own = np.array(nb.default_numbers[4:]).reshape(n, 6)
    k, *scales = nb.default_numbers[1:4]
    integers = np.array(nb.default_integers)
    of_atoms, special = integers[2 : 2 + 3 * n].reshape(n, 3), integers[2 + 3 * n :].reshape(-1, 2)

    def law(r, sigma, eps, charge):
        x = (sigma / r) ** 6
        return 4 * eps * (x * x - x) + charge / r, 4 * eps * (6 * x - 12 * x * x) / r - charge / r**2

    def total(places):
        energy = 0.0
        for a in range(n):
            kinds = dict(special[of_atoms[a, 1] : of_atoms[a, 2]].tolist())
            for b in range(a):
                r = np.linalg.norm(places[a] - places[b])
                if of_atoms[a, 0] != of_atoms[b, 0] and kinds.get(b) != 0 and r < cutoff:
                    lj, coulomb = scales if kinds.get(b) == 1 else (1.0, 1.0)
                    pair = own[a, 3] + own[b, 3], own[a, 4] * own[b, 4] * lj, k * own[a, 5] * own[b, 5] * coulomb
                    there, slope = law(cutoff, *pair)
                    energy += law(r, *pair)[0] - there - (r - cutoff) * slope
        return energy

    states = [bent(molecule, seed, 0.1) for seed in range(9)]
    for state in states[:2]:
        found = nb.calc_potential_energy_contribution(state)
        assert abs(found - total(molecule.calc_places(state))) < 1e-9 * abs(found)
    many = mb.Ensemble(molecule.system, 9)
    many.q = [state.q for state in states]
    many.realize()
    for state, u_dot in zip(states, many.u_dot, strict=True):
        assert np.abs(u_dot - state.u_dot).max() < 1e-9 * np.abs(state.u_dot).max()


def test_forces_of_eights_are_the_laws_where_pairs_are_special_and_atoms_lie_upon_each_other():
    """19 atoms, three blocks of which the last is not full; the truth is the law in NumPy, pair by pair."""
    rng, n = np.random.default_rng(SEED), 19
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    atom = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1)))
    bodies = [mb.mobilizer.Translation(matter.ground, atom) for _ in range(4)]
    owners, places = rng.integers(0, 4, n), 2.0 * rng.normal(size=(n, 3))
    owners[3], owners[17], places[17] = 0, 1, places[3]  # excluded, at one place
    sigma, epsilon, charges = 0.5 + 0.1 * rng.random(n), rng.random(n), rng.normal(size=n)
    excluded, scaled, scales = {(3, 17), (16, 18), (0, 1)}, {(2, 9), (7, 8), (8, 18)}, (0.0, 0.7)
    element = mb.force.Nonbonded(
        mb.GeneralForceSubsystem(system),
        [bodies[b] for b in owners],
        places,
        sigma=sigma,
        epsilon=epsilon,
        charges=charges,
        coulomb=2.0,
        excluded=excluded,
        scaled=scaled,
        scales=scales,
    )
    energy, forces = 0.0, np.zeros((4, 3))
    for a in range(n):
        for b in range(a):
            if owners[a] != owners[b] and (b, a) not in excluded:
                lj, coulomb = scales if (b, a) in scaled else (1.0, 1.0)
                apart = places[a] - places[b]
                r = np.linalg.norm(apart)
                six, depth = (0.5 * (sigma[a] + sigma[b]) / r) ** 6, 4.0 * lj * np.sqrt(epsilon[a] * epsilon[b])
                electric = 2.0 * coulomb * charges[a] * charges[b] / r
                energy += depth * (six * six - six) + electric
                push = (depth * (12.0 * six * six - 6.0 * six) + electric) / r**2 * apart
                forces[owners[a]] += push
                forces[owners[b]] -= push
    state = system.realize_topology()
    system.realize(state, mb.Stage.DYNAMICS)
    assert abs(element.calc_potential_energy_contribution(state) - energy) < 1e-13 * abs(energy)
    found = system.get_rigid_body_forces(state)[1:, 1]
    assert np.abs(found - forces).max() < 1e-13 * np.abs(forces).max()


def test_forces_are_the_energys_slopes_and_derivatives_theirs():
    molecule = build_peptide("AA")
    state, h = bent(molecule), 1e-5
    f = generalized(molecule, state)
    for j in range(4):
        energies = []
        for side in (-h, h):
            other = state.copy()
            q = other.q.copy()
            q[7 + j] += side
            other.q = q
            molecule.system.realize(other)
            energies.append(molecule.system.calc_potential_energy(other))
        assert abs((energies[1] - energies[0]) / (2 * h) + f[6 + j]) < 1e-5 * np.abs(f).max()
    exact = molecule.system.calc_forward_dynamics_derivatives(state).q[:, 6]
    rates = []
    for side in (-h, h):
        other = state.copy()
        q = other.q.copy()
        q[7] += side
        other.q = q
        molecule.system.realize(other)
        rates.append(other.u_dot.copy())
    assert np.abs((rates[1] - rates[0]) / (2 * h) - exact).max() < 1e-6 * np.abs(exact).max()


def test_verlet_keeps_the_energy_to_second_order():
    molecule = build_peptide("AA")
    state = molecule.default_state()
    molecule.draw_speeds(state, 300.0, seed=SEED)
    noise = []
    for h in (0.002, 0.004):
        integrator = mb.integrator.Verlet(molecule.system, fixed_step_size=h)
        noise.append(mb.simulate(molecule.system, state, 0.4, integrator=integrator, report_interval=0.008).energy.std())
    assert noise[0] < 0.05 and 3.0 < noise[1] / noise[0] < 5.0


def test_speeds_are_of_their_temperature():
    molecule = build_peptide("AA")
    state, temperatures = molecule.default_state(), []
    for seed in range(400):
        molecule.draw_speeds(state, 310.0, seed=seed)
        molecule.system.realize(state, mb.Stage.VELOCITY)
        temperatures.append(molecule.calc_temperature(state))
    # of nu squares: the standard deviation of the mean of 400 is T sqrt(2 / nu / 400)
    assert abs(np.mean(temperatures) - 310.0) < 5.0 * 310.0 * np.sqrt(2.0 / len(state.u) / 400.0)
    kT = 2.0 * molecule.system.calc_kinetic_energy(state) / len(state.u)
    assert abs(kT - BOLTZMANN * temperatures[-1]) < 1e-12


def test_a_file_is_read_back(tmp_path):
    molecule = build_peptide("GA")
    molecule.atoms.write_pdb(tmp_path / "peptide.pdb")
    again = load_pdb(tmp_path / "peptide.pdb", OWN, cutoff=0.9, dielectric=4.0)
    assert list(again.atoms.names) == molecule.atoms.names and again.topology.bonds == molecule.topology.bonds
    assert np.abs(again.atoms.places - molecule.atoms.places).max() < 1e-4 and again.nonbonded.get_cutoff() == 0.9
    molecule.atoms.write_pdb(tmp_path / "motion.pdb", np.array([molecule.atoms.places, molecule.atoms.places + 1.0]))
    assert (tmp_path / "motion.pdb").read_text().count("MODEL") == 2
    assert len(load_pdb(tmp_path / "motion.pdb").atoms) == len(molecule.atoms)  # the first model


def test_hydrogens_have_any_names_and_stand_by_the_atoms_that_have_them(tmp_path):
    """As files of the Protein Data Bank's older form and of PDBFixer name them."""
    molecule = build_peptide("GA")
    other = {"HA2": "HA1", "HA3": "HA2", "HB1": "1HB", "HB2": "2HB", "HB3": "3HB", "H": "HN"}
    renamed = dataclasses.replace(molecule.atoms, names=[other.get(name, name) for name in molecule.atoms.names])
    renamed.write_pdb(tmp_path / "other.pdb")
    again = load_pdb(tmp_path / "other.pdb")
    assert "HN" in again.atoms.names and "1HB" in again.atoms.names
    assert again.topology.kinds == molecule.topology.kinds and again.topology.bonds == molecule.topology.bonds
    assert len(again.torsions) == len(molecule.torsions)
    lost = dataclasses.replace(renamed, places=renamed.places.copy())
    lost.places[renamed.names.index("2HB")] = renamed.places[renamed.names.index("HN")] + 1e-3
    with pytest.raises(mb.ModelError, match=r"ALA 2 .*does not have the atoms of ALA"):
        Molecule(lost)
    (tmp_path / "field.xml").write_text(SULPHUR)
    unlike = ForceField(tmp_path / "field.xml").residues["MES"]  # hydrogens of other charges keep their names
    assert unlike.names_of({"C": ["HA", "HB", "HC"], "SG": []}) is None
    assert unlike.names_of({"C": ["H3", "H1", "H2"], "SG": []}) == {name: name for name in unlike.atoms}


SULPHUR = """<ForceField><AtomTypes>
<Type name="c" class="C" element="C" mass="12"/><Type name="s" class="S" element="S" mass="32"/>
<Type name="h" class="H" element="H" mass="1"/></AtomTypes>
<Residues><Residue name="MES"><Atom name="C" type="c" charge="0"/><Atom name="H1" type="h" charge="0.1"/>
<Atom name="H2" type="h" charge="-0.1"/><Atom name="H3" type="h" charge="0"/><Atom name="SG" type="s" charge="0"/>
<Bond from="0" to="1"/><Bond from="0" to="2"/><Bond from="0" to="3"/><Bond from="0" to="4"/><ExternalBond from="4"/></Residue>
<Residue name="ION"><Atom name="C" type="c" charge="1"/></Residue>
<Residue name="TWO"><Atom name="C" type="c" charge="1"/><Atom name="H1" type="h" charge="1"/><Bond from="0" to="1"/></Residue>
<Residue name="RNG"><Atom name="C1" type="c" charge="0"/><Atom name="C2" type="c" charge="0"/>
<Atom name="C3" type="c" charge="0"/>
<Atom name="C4" type="c" charge="0"/><Atom name="C5" type="c" charge="0"/><Atom name="H1" type="h" charge="0"/>
<Bond from="0" to="1"/><Bond from="1" to="2"/><Bond from="2" to="0"/><Bond from="2" to="3"/><Bond from="3" to="4"/>
<Bond from="4" to="5"/></Residue>
</Residues><NonbondedForce coulomb14scale="0.8" lj14scale="0.5"><UseAttributeFromResidue name="charge"/>
<Atom class="C" sigma="0.3" epsilon="0.4"/><Atom class="S" sigma="0.3" epsilon="0.4"/>
<Atom class="H" sigma="0.1" epsilon="0.1"/>
</NonbondedForce><PeriodicTorsionForce>
<Proper class1="C" class2="S" class3="S" class4="C" periodicity1="2" phase1="0.4" k1="14.6"
periodicity2="3" phase2="0" k2="2.5"/>
<Proper class1="" class2="C" class3="S" class4="" periodicity1="3" phase1="0" k1="1.4"/>
</PeriodicTorsionForce></ForceField>"""


def one_of(tmp_path, name, atoms, places, residues=None):
    path = tmp_path / "field.xml"
    path.write_text(SULPHUR)
    residues = [0] * len(atoms) if residues is None else residues
    count = max(residues) + 1
    listed = Atoms(
        atoms, residues, [name] * count, list(range(count)), np.array(places, float), [f"{name} {r}" for r in range(count)]
    )
    return Molecule(listed, ForceField(path))


def check_torsions_across(pair):
    """Pairs by counting bonds; the energy by its formula, of angles by their cosines and signs; forces by differences."""
    _, third = special_pairs(pair.topology)
    assert third == {(0, 5), (1, 9), (2, 9), (3, 9), (4, 6), (4, 7), (4, 8)}
    terms = [((0, 4, 9, 5), 2, 0.4, 14.6), ((0, 4, 9, 5), 3, 0.0, 2.5)]
    terms += [((h, 0, 4, 9), 3, 0.0, 1.4) for h in (1, 2, 3)] + [((h, 5, 9, 4), 3, 0.0, 1.4) for h in (6, 7, 8)]

    def formula(places):
        energy = 0.0
        for four, n, phase, k in terms:
            a, b, c, d = places[list(four)]
            one, other = np.cross(b - a, c - b), np.cross(c - b, d - c)
            cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
            energy += k * (1.0 + np.cos(n * np.sign(one @ (d - c)) * np.arccos(cosine) - phase))
        return energy

    torsions = pair.forces.get_force("torsions across bridges")
    state = pair.default_state()
    print("seed", SEED)
    for u in np.random.default_rng(SEED).normal(size=(4, len(state.u))):
        state.u = u
        pair.system.realize(state)
        state.q = state.q + 0.1 * state.q_dot  # the file's places lie in a plane
        pair.system.realize(state)
        F = torsions.calc_force_contribution(state)[0]
        work = -state.u @ pair.matter.multiply_by_system_jacobian_transpose(state, F)
        energies = []
        for h in (-1e-5, 1e-5):
            other = state.copy()
            other.q = state.q + h * state.q_dot
            pair.system.realize(other)
            energies.append(formula(pair.calc_places(other)))
            assert abs(torsions.calc_potential_energy_contribution(other) - energies[-1]) < 1e-10
        assert abs((energies[1] - energies[0]) / 2e-5 - work) < 1e-6 * max(1.0, abs(work))


def test_bridges_rings_ions_and_pairs(tmp_path):
    half = np.array([[0.1, 0.15, 0], [0.2, 0.15, 0], [0.07, 0.2, 0.09], [0.07, 0.2, -0.09], [0.0, 0.0, 0.0]])
    other = half * [-1, -1, 1] + [0, -0.205, 0]
    names = ["C", "H1", "H2", "H3", "SG"] * 2
    pair = one_of(tmp_path, "MES", names, np.vstack([half, other]), [0] * 5 + [1] * 5)
    assert pair.topology.bridges == [(4, 9)] and len(pair.clusters) == 2
    check_torsions_across(pair)
    state = pair.default_state()
    temperatures = []
    for seed in range(400):
        pair.draw_speeds(state, 300.0, seed=seed)
        temperatures.append(pair.calc_temperature(state))
    assert np.abs(state.u_err).max() < 1e-9
    left = len(state.u) - 3  # three rods; the standard deviation is as in the test of a peptide's speeds
    assert abs(np.mean(temperatures) - 300.0) < 5.0 * 300.0 * np.sqrt(2.0 / left / 400.0)
    end = mb.simulate(pair.system, state, 0.2).states[-1]
    pair.system.realize(end, mb.Stage.POSITION)
    places = pair.calc_places(end)
    for a, b in ((4, 9), (0, 9), (4, 5)):
        assert abs(np.linalg.norm(places[a] - places[b]) - np.linalg.norm(pair.atoms.places[a] - pair.atoms.places[b])) < 1e-4
    ring = one_of(
        tmp_path,
        "RNG",
        ["C1", "C2", "C3", "C4", "C5", "H1"],
        [[0, 0, 0], [0.15, 0, 0], [0.07, 0.13, 0], [0.1, 0.2, 0.13], [0.2, 0.3, 0.13], [0.25, 0.3, 0.22]],
    )
    assert list(ring.torsions) == ["C3-C4 of RNG 0"]  # that to the end's hydrogen does not turn
    ion = one_of(tmp_path, "ION", ["C"], [[0.1, 0.2, 0.3]])
    assert isinstance(ion.clusters[0], mb.mobilizer.Translation)
    two = one_of(tmp_path, "TWO", ["C", "H1"], [[0.1, 0.2, 0.3], [0.1, 0.3, 0.3]])
    state = two.default_state()
    two.draw_speeds(state, 300.0)
    two.system.realize(state)
    assert isinstance(two.clusters[0], mb.mobilizer.FreeLine)
    assert np.abs(two.calc_places(state) - two.atoms.places).max() < 1e-15 and len(state.u) == 5


def test_ions_have_the_names_of_other_programs_or_are_left_out(tmp_path):
    kinds = {"Cl-": "1", "Na+": "2", "MG2": "3", "K+": "4"}
    field = tmp_path / "ions.xml"
    field.write_text(
        "<ForceField><AtomTypes>"
        + "".join(f'<Type name="{k}" class="{k}" mass="20"/>' for k in kinds.values())
        + "</AtomTypes><Residues>"
        + "".join(f'<Residue name="{name}"><Atom name="{name}" type="{k}"/></Residue>' for name, k in kinds.items())
        + '</Residues><NonbondedForce coulomb14scale="1" lj14scale="1">'
        + "".join(f'<Atom type="{k}" charge="{k}" sigma="0.2" epsilon="0.1"/>' for k in kinds.values())
        + "</NonbondedForce></ForceField>"
    )
    line = "HETATM{0:5d} {1:<4} {1:>3} A{0:4d}    {2:8.3f}{2:8.3f}{2:8.3f}\n"
    names = ["CL", "Cl-", "NA", "SOD", "MG", "K", "POT", "CLA"]
    path = tmp_path / "ions.pdb"
    path.write_text("".join(line.format(k, name, 10.0 * k) for k, name in enumerate(names)))
    assert load_pdb(path, field).topology.kinds == ["1", "1", "2", "2", "3", "4", "4", "1"]
    with path.open("a") as more:
        more.write(line.format(9, "XE", 90.0))
    with pytest.raises(
        mb.ModelError, match=r"no residue 'XE', of XE 9 of chain A: add a file .*leave_out=\['XE', 'HOH', 'WAT'\]"
    ):
        load_pdb(path, field)
    assert load_pdb(path, field, leave_out=["XE", "CL"]).topology.kinds == ["1", "2", "2", "3", "4", "4", "1"]
    with pytest.raises(TypeError, match=r"leave_out is a sequence of residues' names, such as \['XE'\]"):
        load_pdb(path, field, leave_out="XE")


def test_files_that_make_no_sense_are_refused(tmp_path):
    molecule = build_peptide("A")
    path = tmp_path / "bare.pdb"
    molecule.atoms.write_pdb(path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if " HA " not in line))
    with pytest.raises(
        mb.ModelError, match=r"ALA 2 of chain A does not have the atoms of ALA: it lacks HA\. Files of experiments"
    ):
        load_pdb(path)
    path.write_text("\n".join(lines).replace("ALA", "XYZ"))
    with pytest.raises(mb.ModelError, match="no residue 'XYZ'"):
        load_pdb(path)
    path.write_text("\n".join(lines)[:40] + "x" * 10 + "\n".join(lines)[50:])
    with pytest.raises(mb.ModelError, match="line 1: no coordinates"):
        load_pdb(path)
    path.write_text("END\n")
    with pytest.raises(mb.ModelError, match="has no atoms"):
        load_pdb(path)
    with pytest.raises(OSError):
        load_pdb(tmp_path / "none.pdb")
    field = tmp_path / "field.xml"
    for text, says in (
        ("<a", "no XML"),
        ("<System/>", "no force field"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><ForceField/>', "document type"),
        ('<ForceField><AtomTypes><Type name="a" mass="heavy"/></AtomTypes></ForceField>', "lacks|none"),
    ):
        field.write_text(text)
        with pytest.raises(mb.ModelError, match=says):
            ForceField(field)
    for arguments in (("",), ("AXA",), ("AA", [1.0, 2.0, 3.0])):
        with pytest.raises(mb.ModelError):
            build_peptide(*arguments)


def test_atoms_that_make_no_sense_are_refused():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    part = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    body = mb.mobilizer.Free(matter.ground, part)
    given = {"sigma": [0.3, 0.3], "epsilon": [1.0, 1.0], "charges": [0.0, 0.0]}
    for change, error, says in (
        ({"sigma": [0.3]}, ValueError, "sigma"),
        ({"epsilon": [1.0, -1.0]}, mb.ModelError, "epsilon of atom 1"),
        ({"cutoff": 0.0}, ValueError, "cutoff"),
        ({"excluded": [(0, 2)]}, IndexError, "no pair"),
        ({"excluded": [(0, 1)], "scaled": [(1, 0)]}, mb.ModelError, "both excluded and scaled"),
    ):
        with pytest.raises((error, mb.MobodError), match=says):
            mb.force.Nonbonded(forces, [body, matter.ground], np.zeros((2, 3)), **{**given, **change})
    assert forces.get_num_forces() == 0


def test_what_is_no_molecule_no_sequence_and_no_state_is_refused():
    peptide = build_peptide("A")
    for call in (
        lambda: mb.molecule.Molecule("protein.pdb"),
        lambda: mb.molecule.Molecule(peptide.atoms, "amber.xml"),
        lambda: build_peptide(3),
        lambda: peptide.calc_places(None),
        lambda: peptide.calc_temperature(None),
        lambda: peptide.draw_speeds(None, 300.0),
    ):
        with pytest.raises(TypeError, match=r"atoms of a Molecule|field of a Molecule|a sequence is|state has to be a State"):
            call()


def test_speeds_of_a_molecule_whose_first_cluster_is_locked():
    """The others have their temperature, the locked one has no speed that the first step would take from it."""
    helix = build_peptide("AAAA")
    state = helix.default_state()
    helix.matter.bodies[1].lock(state)
    temperatures = []
    for seed in range(200):
        helix.draw_speeds(state, temperature=300.0, seed=seed)
        assert not state.u[:6].any()
        temperatures.append(helix.calc_temperature(state))
    dofs = len(state.u) - 6
    # half k T of each degree of freedom: a mean of chi-squared over 200 draws
    assert abs(np.mean(temperatures) / 300.0 - 1.0) < 4.0 * np.sqrt(2.0 / dofs / 200)
