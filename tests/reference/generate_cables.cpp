// Writes what Simbody 3.7's CablePath gives for cables over obstacles on bodies that move.
//
//     generate_cables OUTPUT_FILE
//
// A scene is a cable from Ground to the last of some free bodies, over an obstacle or through a via point on each of the
// others. A scene that Simbody does not solve is drawn again. tests/force/test_cables.py builds the same and compares.

#include "Simbody.h"

#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

using namespace SimTK;
using Text = std::string;

namespace {

Text json(Real value) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
    return buffer;
}
template <int N> Text json(const Vec<N>& value) {
    Text text = "[";
    for (int i = 0; i < N; ++i) text += (i ? "," : "") + json(value[i]);
    return text + "]";
}
Text json(const Transform& X) {
    Text text = "{\"R\": [";
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) text += (i + j ? "," : "") + json(X.R()[i][j]);
    return text + "], \"p\": " + json(X.p()) + "}";
}
Text json(const SpatialVec& V) { return "[" + json(V[0]) + "," + json(V[1]) + "]"; }

std::mt19937 generator(28);
Real uniform(Real low, Real high) { return low + (high - low) * generator() / 4294967295.0; }
Vec3 vector(Real size) {
    const Real x = uniform(-size, size), y = uniform(-size, size);
    return Vec3(x, y, uniform(-size, size));
}

struct Obstacle {
    Text kind;
    std::vector<Real> sizes;
};

// One scene, or an empty text where Simbody finds no cable.
Text scene(const Text& name, const std::vector<Obstacle>& obstacles) {
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    CableTrackerSubsystem cables(system);
    Body::Rigid body(MassProperties(1, Vec3(0), UnitInertia(1, 1, 1)));
    std::vector<MobilizedBody::Free> bodies;
    for (size_t i = 0; i <= obstacles.size(); ++i) bodies.emplace_back(matter.Ground(), Transform(), body, Transform());
    const Vec3 origin = Vec3(-1, 0, 0) + vector(0.1), end = vector(0.1), via = vector(0.05);
    CablePath path(cables, matter.Ground(), origin, bodies.back(), end);
    std::vector<Transform> frames;
    std::vector<CableObstacle::Surface> surfaces;
    for (size_t i = 0; i < obstacles.size(); ++i) {
        frames.push_back(Transform(Rotation(BodyRotationSequence, uniform(-0.2, 0.2), XAxis, uniform(-0.2, 0.2), YAxis,
                                            uniform(-0.2, 0.2), ZAxis), vector(0.05)));
        const std::vector<Real>& s = obstacles[i].sizes;
        if (obstacles[i].kind == "via") { CableObstacle::ViaPoint(path, bodies[i], via); continue; }
        ContactGeometry shape = ContactGeometry::Sphere(s[0]);
        if (obstacles[i].kind == "cylinder") shape = ContactGeometry::Cylinder(s[0]);
        if (obstacles[i].kind == "ellipsoid") shape = ContactGeometry::Ellipsoid(Vec3(s[0], s[1], s[2]));
        surfaces.emplace_back(path, bodies[i], frames.back(), shape);
        surfaces.back().setContactPointHints(Vec3(-0.12, s.size() > 1 ? s[1] : s[0], 0.01), Vec3(0.12, s.size() > 1 ? s[1] : s[0], 0.01));
    }
    system.realizeTopology();
    State state = system.getDefaultState();
    for (size_t i = 0; i < bodies.size(); ++i) {
        const Rotation R(BodyRotationSequence, uniform(-0.2, 0.2), XAxis, uniform(-0.2, 0.2), YAxis, uniform(-0.2, 0.2), ZAxis);
        const bool last = i + 1 == bodies.size();
        bodies[i].setQToFitTransform(state, Transform(R, Vec3(1.2 * i, last ? 0 : -0.05, 0) + vector(0.05)));
        bodies[i].setUToFitVelocity(state, SpatialVec(vector(1), vector(1)));
    }
    system.realize(state, Stage::Position);
    path.solveForInitialCablePath(state);
    system.realize(state, Stage::Velocity);
    const Real length = path.getCableLength(state), rate = path.getCableLengthDot(state);
    if (!std::isfinite(length) || !std::isfinite(rate)) return "";
    Vector_<SpatialVec> forces(matter.getNumBodies(), SpatialVec(Vec3(0), Vec3(0)));
    path.applyBodyForces(state, 1, forces);
    Text text = "{\"name\": \"" + name + "\", \"origin\": " + json(origin) + ", \"termination\": " + json(end) + ", \"via\": " + json(via);
    text += ", \"obstacles\": [";
    for (size_t i = 0; i < obstacles.size(); ++i) {
        text += (i ? ", " : "") + Text("{\"kind\": \"") + obstacles[i].kind + "\", \"X_BS\": " + json(frames[i]) + ", \"sizes\": [";
        for (size_t j = 0; j < obstacles[i].sizes.size(); ++j) text += (j ? "," : "") + json(obstacles[i].sizes[j]);
        text += "]}";
    }
    text += "], \"poses\": [";
    for (size_t i = 0; i < bodies.size(); ++i) text += (i ? ", " : "") + json(bodies[i].getBodyTransform(state));
    text += "], \"velocities\": [";
    for (size_t i = 0; i < bodies.size(); ++i) text += (i ? ", " : "") + json(bodies[i].getBodyVelocity(state));
    text += "], \"length\": " + json(length) + ", \"rate\": " + json(rate) + ", \"forces\": [";
    for (int b = 0; b < forces.size(); ++b) text += (b ? ", " : "") + json(forces[b]);
    return text + "]}";
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const Obstacle via{"via", {}}, ball{"sphere", {0.3}}, rod{"cylinder", {0.25}}, egg{"ellipsoid", {0.35, 0.25, 0.3}};
    const std::vector<std::pair<Text, std::vector<Obstacle>>> kinds = {
        {"sphere", {ball}}, {"cylinder", {rod}}, {"ellipsoid", {egg}}, {"sphere_sphere", {ball, ball}},
        {"sphere_ellipsoid", {ball, egg}}, {"cylinder_via_sphere", {rod, via, ball}}, {"three", {ball, rod, egg}}};
    FILE* out = std::fopen(argv[1], "w");
    std::fprintf(out, "{\"format\": 1, \"source\": \"Simbody 3.7\", \"scenes\": [");
    bool first = true;
    for (const auto& kind : kinds)
        for (int number = 0, tries = 0; number < 3 && tries < 50; ++tries) {
            Text text;
            try {
                text = scene(kind.first + "_" + std::to_string(number), kind.second);
            } catch (const std::exception&) {
            }
            if (text.empty()) continue;
            std::fprintf(out, "%s\n%s", first ? "" : ",", text.c_str());
            first = false;
            ++number;
        }
    std::fprintf(out, "\n]}\n");
    std::fclose(out);
    return 0;
}
