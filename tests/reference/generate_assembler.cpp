// Writes reference cases of assembly: models of Simbody 3.7 with constraints, markers and orientation sensors, and what
// Simbody's Assembler makes of them.
//
//     generate_assembler OUTPUT_FOLDER [SEED]
//
// README.md beside this file describes the format; generate.py compiles and runs this program.

#include "Simbody.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

using namespace SimTK;
using Text = std::string;

namespace {

Text number(Real value) {
    if (!std::isfinite(value)) return "null";
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
    return buffer;
}

Text list(const std::vector<Text>& items) {
    Text text = "[";
    for (std::size_t i = 0; i < items.size(); ++i) text += (i ? "," : "") + items[i];
    return text + "]";
}

Text json(const Vec3& v) { return list({number(v[0]), number(v[1]), number(v[2])}); }

Text json(const Vector& v) {
    std::vector<Text> items;
    for (int i = 0; i < v.size(); ++i) items.push_back(number(v[i]));
    return list(items);
}

Text json(const Rotation& R) {
    std::vector<Text> items;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) items.push_back(number(R[i][j]));
    return list(items);
}

Text json(const Transform& X) { return "{\"R\":" + json(X.R()) + ",\"p\":" + json(X.p()) + "}"; }

// The same numbers with every library: no std::..._distribution.
class Random {
public:
    explicit Random(unsigned seed) : m_engine(seed) {}
    Real uniform(Real low, Real high) { return low + (high - low) * (m_engine() / 4294967296.0); }
    Vec3 vector(Real size) {
        const Real x = uniform(-size, size), y = uniform(-size, size), z = uniform(-size, size);
        return Vec3(x, y, z);
    }
    Rotation rotation() {
        const Vec3 angles = vector(1.5);
        return Rotation(BodyRotationSequence, angles[0], XAxis, angles[1], YAxis, angles[2], ZAxis);
    }

private:
    std::mt19937 m_engine;
};

MobilizedBody makeBody(const Text& kind, MobilizedBody& parent, const Transform& F, const Transform& M) {
    const Body::Rigid body(MassProperties(1, Vec3(0), UnitInertia(1)));
    if (kind == "Pin") return MobilizedBody::Pin(parent, F, body, M);
    if (kind == "Slider") return MobilizedBody::Slider(parent, F, body, M);
    if (kind == "Universal") return MobilizedBody::Universal(parent, F, body, M);
    if (kind == "Ball") return MobilizedBody::Ball(parent, F, body, M);
    return MobilizedBody::Free(parent, F, body, M);
}

struct Wanted {
    Text name;
    std::vector<Text> kinds;
    std::vector<int> parents;
    bool rod, ball, sensors, missing, restricted, locked;
    Real constraintsWeight;
};

Text makeCase(const Wanted& wanted, unsigned seed) {
    Random random(seed);
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    const int n = int(wanted.kinds.size());
    std::vector<Text> bodies, constraints, markers, sensors;
    for (int i = 0; i < n; ++i) {
        MobilizedBody& parent = matter.updMobilizedBody(MobilizedBodyIndex(wanted.parents[i]));
        const Rotation R_PF = random.rotation(), R_BM = random.rotation();
        const Vec3 p_PF = random.vector(0.6), p_BM = random.vector(0.6);
        const Transform F(R_PF, p_PF), M(R_BM, p_BM);
        makeBody(wanted.kinds[i], parent, F, M);
        bodies.push_back("{\"parent\":" + std::to_string(wanted.parents[i]) + ",\"kind\":\"" + wanted.kinds[i] +
                         "\",\"X_PF\":" + json(F) + ",\"X_BM\":" + json(M) + "}");
    }
    State probe = system.realizeTopology();

    // where things are to be: a configuration at random, and what is measured there
    Vector truth(probe.getNQ());
    for (int i = 0; i < truth.size(); ++i) truth[i] = random.uniform(-0.9, 0.9);
    probe.updQ() = truth;
    system.realize(probe, Stage::Position);
    matter.normalizeQuaternions(probe);
    system.realize(probe, Stage::Position);

    if (wanted.rod) {
        MobilizedBody &one = matter.updMobilizedBody(MobilizedBodyIndex(n)), &two = matter.updGround();
        const Vec3 s1 = random.vector(0.4), s2 = random.vector(0.4);
        const Real length = (one.findStationLocationInGround(probe, s1) - s2).norm() + 0.05;
        Constraint::Rod(two, s2, one, s1, length);
        constraints.push_back("{\"kind\":\"Rod\",\"body1\":0,\"point1\":" + json(s2) + ",\"body2\":" +
                              std::to_string(n) + ",\"point2\":" + json(s1) + ",\"length\":" + number(length) + "}");
    }
    if (wanted.ball) {
        const int b1 = n / 2, b2 = n;
        MobilizedBody &one = matter.updMobilizedBody(MobilizedBodyIndex(b1)),
                      &two = matter.updMobilizedBody(MobilizedBodyIndex(b2));
        const Vec3 s1 = random.vector(0.4);
        const Vec3 s2 = two.findStationAtGroundPoint(probe, one.findStationLocationInGround(probe, s1));
        Constraint::Ball(one, s1, two, s2);
        constraints.push_back("{\"kind\":\"Ball\",\"body1\":" + std::to_string(b1) + ",\"point1\":" + json(s1) +
                              ",\"body2\":" + std::to_string(b2) + ",\"point2\":" + json(s2) + "}");
    }
    State state = system.realizeTopology();
    state.updQ() = truth;
    system.realize(state, Stage::Position);
    matter.normalizeQuaternions(state);
    system.realize(state, Stage::Position);

    Assembler assembler(system);
    assembler.setAccuracy(1e-9);
    assembler.setErrorTolerance(1e-8);
    assembler.setSystemConstraintsWeight(wanted.constraintsWeight);
    Markers& marked = *new Markers();
    OrientationSensors& sensed = *new OrientationSensors();
    std::vector<Vec3> locations;
    std::vector<Rotation> orientations;
    for (int b = 1; b <= n; ++b) {
        const MobilizedBody& body = matter.getMobilizedBody(MobilizedBodyIndex(b));
        for (int k = 0; k < 3; ++k) {
            const Vec3 station = random.vector(0.5), noise = random.vector(0.03);
            const Real weight = random.uniform(0.2, 2);
            marked.addMarker(MobilizedBodyIndex(b), station, weight);
            Vec3 location = body.findStationLocationInGround(state, station) + noise;
            if (wanted.missing && k == 2 && b % 2) location = Vec3(NaN);
            locations.push_back(location);
            markers.push_back("{\"body\":" + std::to_string(b) + ",\"station\":" + json(station) + ",\"weight\":" +
                              number(weight) + ",\"observed\":" + json(location) + "}");
        }
        if (!wanted.sensors) continue;
        const Rotation R_BS = random.rotation();
        const Vec3 noise = random.vector(0.05);
        const Real weight = random.uniform(0.2, 2);
        sensed.addOSensor(MobilizedBodyIndex(b), R_BS, weight);
        const Rotation off(BodyRotationSequence, noise[0], XAxis, noise[1], YAxis, noise[2], ZAxis);
        orientations.push_back(body.getBodyRotation(state) * R_BS * off);
        sensors.push_back("{\"body\":" + std::to_string(b) + ",\"R_BS\":" + json(R_BS) + ",\"weight\":" + number(weight) +
                          ",\"observed\":" + json(orientations.back()) + "}");
    }
    assembler.adoptAssemblyGoal(&marked, 1);
    assembler.adoptAssemblyGoal(&sensed, wanted.sensors ? 0.3 : 0);

    // the start: some way from there
    Vector start = state.getQ();
    for (int i = 0; i < start.size(); ++i) start[i] += random.uniform(-0.15, 0.15);
    state.updQ() = start;
    system.realize(state, Stage::Position);
    matter.normalizeQuaternions(state);
    start = state.getQ();

    Text restrictions = "[]", locks = "[]";
    if (wanted.restricted) {
        const Real low = start[start.size() - 1] - 0.01, high = low + 0.02;
        assembler.restrictQ(MobilizedBodyIndex(n), MobilizerQIndex(0), low, high);
        restrictions = "[{\"body\":" + std::to_string(n) + ",\"q\":0,\"low\":" + number(low) + ",\"high\":" + number(high) + "}]";
    }
    if (wanted.locked) {
        assembler.lockMobilizer(MobilizedBodyIndex(2));
        locks = "[2]";
    }
    assembler.initialize(state);
    marked.moveAllObservations(Array_<Vec3>(locations));
    if (wanted.sensors) sensed.moveAllObservations(Array_<Rotation>(orientations));
    const Real goalAtStart = assembler.calcCurrentGoal();
    const Real errorAtStart = assembler.calcCurrentErrorNorm();
    const Real goal = assembler.assemble();
    assembler.updateFromInternalState(state);

    return "{\"name\":\"" + wanted.name + "\",\"bodies\":" + list(bodies) + ",\"constraints\":" + list(constraints) +
           ",\"constraints_weight\":" + number(wanted.constraintsWeight) + ",\"markers\":" + list(markers) + ",\"sensors\":" +
           list(sensors) + ",\"sensors_weight\":0.3,\"restricted\":" + restrictions + ",\"locked\":" + locks + ",\"q\":" +
           json(start) + ",\"goal_at_start\":" + number(goalAtStart) + ",\"error_at_start\":" + number(errorAtStart) +
           ",\"goal\":" + number(goal) + ",\"error\":" + number(assembler.calcCurrentErrorNorm()) + ",\"final_q\":" +
           json(state.getQ()) + "}";
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) {
        std::cerr << "generate_assembler OUTPUT_FOLDER [SEED]\n";
        return 2;
    }
    const std::vector<Text> arm = {"Ball", "Pin", "Ball"}, tree = {"Free", "Ball", "Pin", "Universal", "Ball", "Pin"},
                            pins = {"Pin", "Pin", "Pin", "Pin", "Pin", "Pin"};
    const std::vector<int> inRow = {0, 1, 2}, treeParents = {0, 1, 2, 1, 4, 4}, sixInRow = {0, 1, 2, 3, 4, 5};
    // name, kinds, parents, rod, ball, sensors, missing, restricted, locked, weight of the constraints
    const std::vector<Wanted> all = {
        {"arm", arm, inRow, false, false, false, false, false, false, Infinity},
        {"tree", tree, treeParents, false, false, false, false, false, false, Infinity},
        {"tree, markers missing", tree, treeParents, false, false, false, true, false, false, Infinity},
        {"tree, sensors", tree, treeParents, false, false, true, false, false, false, Infinity},
        {"tree with a rod", tree, treeParents, true, false, false, false, false, false, Infinity},
        {"tree with a loop", tree, treeParents, false, true, false, false, false, false, Infinity},
        {"pins with a loop", pins, sixInRow, true, false, false, false, false, false, Infinity},
        {"pins, one restricted", pins, sixInRow, false, false, false, false, true, false, Infinity},
        {"tree with a rod, one locked", tree, treeParents, true, false, false, false, false, true, Infinity},
        {"tree with a rod, one restricted", tree, treeParents, true, false, false, false, true, false, Infinity},
        {"tree with a loop as a goal", tree, treeParents, true, true, true, true, false, false, 0.7},
    };
    std::vector<Text> cases;
    unsigned seed = argc == 3 ? 1000 * unsigned(std::atoi(argv[2])) : 100;
    for (const Wanted& wanted : all) cases.push_back(makeCase(wanted, ++seed));
    std::ofstream out(Text(argv[1]) + "/assembler.json");
    out << "{\"format\":1,\"source\":\"Simbody 3.7\",\"cases\":" << list(cases) << "}\n";
    return out.good() ? 0 : 1;
}
