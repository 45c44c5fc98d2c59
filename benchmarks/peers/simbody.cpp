// Simbody on a model written by benchmarks/peers/engine.py: udot, what it costs, and simulations.
//
//     simbody udot FILE REPEATS SECONDS       udot at the file's state, microseconds of each repeat
//     simbody simulate FILE REPEATS TIME ACCURACY SAMPLES
//         wall seconds, steps, and q at SAMPLES even times (at the end only if SAMPLES is 1)

#include <Simbody.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "loop.h"

using namespace SimTK;

namespace {

struct Mechanism {
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    GeneralForceSubsystem forces{system};
    State state;
};

Transform readTransform(std::istream& in) {
    Mat33 R;
    Vec3 p;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) in >> R(i, j);
    in >> p[0] >> p[1] >> p[2];
    return Transform(Rotation(R), p);
}

void readBody(std::istream& in, SimbodyMatterSubsystem& matter) {
    int parentIndex;
    std::string kind;
    in >> parentIndex >> kind;
    const Transform X_PF = readTransform(in), X_BM = readTransform(in);
    Real mass;
    Vec3 com;
    Vec6 J;
    in >> mass >> com[0] >> com[1] >> com[2];
    for (int i = 0; i < 6; ++i) in >> J[i];
    const Body::Rigid body(
        MassProperties(mass, com, Inertia(J[0], J[1], J[2], J[3], J[4], J[5])));
    MobilizedBody& parent = matter.updMobilizedBody(MobilizedBodyIndex(parentIndex));
    if (kind == "pin") MobilizedBody::Pin(parent, X_PF, body, X_BM);
    else if (kind == "slider") MobilizedBody::Slider(parent, X_PF, body, X_BM);
    else if (kind == "ball") MobilizedBody::Ball(parent, X_PF, body, X_BM);
    else if (kind == "free") MobilizedBody::Free(parent, X_PF, body, X_BM);
    else if (kind == "weld") MobilizedBody::Weld(parent, X_PF, body, X_BM);
    else SimTK_THROW1(Exception::Cant, "unknown kind " + kind);
}

void readTie(std::istream& in, SimbodyMatterSubsystem& matter) {
    int body[2];
    Vec3 station[2];
    for (int i = 0; i < 2; ++i) in >> body[i] >> station[i][0] >> station[i][1] >> station[i][2];
    Constraint::Ball(matter.updMobilizedBody(MobilizedBodyIndex(body[0])), station[0],
                     matter.updMobilizedBody(MobilizedBodyIndex(body[1])), station[1]);
}

Vec3 readVec3(std::istream& in) {
    Vec3 v;
    in >> v[0] >> v[1] >> v[2];
    return v;
}

Vec6 readVec6(std::istream& in) {
    Vec6 v;
    for (int i = 0; i < 6; ++i) in >> v[i];
    return v;
}

const MobilizedBody& readWhichBody(std::istream& in, const SimbodyMatterSubsystem& matter) {
    int index;
    in >> index;
    return matter.getMobilizedBody(MobilizedBodyIndex(index));
}

void readDamper(std::istream& in, Mechanism& m) {
    const MobilizedBody& body = readWhichBody(in, m.matter);
    int which;
    Real damping;
    in >> which >> damping;
    Force::MobilityLinearDamper(m.forces, body, MobilizerUIndex(which), damping);
}

void readSpring(std::istream& in, Mechanism& m) {
    const MobilizedBody &one = readWhichBody(in, m.matter), &two = readWhichBody(in, m.matter);
    const Vec3 station1 = readVec3(in), station2 = readVec3(in);
    Real stiffness, length;
    in >> stiffness >> length;
    Force::TwoPointLinearSpring(m.forces, one, station1, two, station2, stiffness, length);
}

void readBushing(std::istream& in, Mechanism& m) {
    const MobilizedBody &one = readWhichBody(in, m.matter), &two = readWhichBody(in, m.matter);
    const Transform F = readTransform(in), M = readTransform(in);
    const Vec6 stiffness = readVec6(in), damping = readVec6(in);
    Force::LinearBushing(m.forces, one, F, two, M, stiffness, damping);
}

Vector readVector(std::istream& in) {
    int n;
    in >> n;
    Vector values(n);
    for (int i = 0; i < n; ++i) in >> values[i];
    return values;
}

void read(const char* path, Mechanism& m) {
    std::ifstream in(path);
    Vector q, u;
    for (std::string word; in >> word && word != "end";) {
        if (word == "gravity") {
            Vec3 g;
            in >> g[0] >> g[1] >> g[2];
            Force::Gravity(m.forces, m.matter, g);
        } else if (word == "body") readBody(in, m.matter);
        else if (word == "tie") readTie(in, m.matter);
        else if (word == "damper") readDamper(in, m);
        else if (word == "spring") readSpring(in, m);
        else if (word == "bushing") readBushing(in, m);
        else if (word == "q") q = readVector(in);
        else if (word == "u") u = readVector(in);
    }
    m.state = m.system.realizeTopology();
    m.system.realizeModel(m.state);
    m.state.setQ(q);
    m.state.setU(u);
}

void forwardDynamics(void* context, int i) {
    Mechanism& m = *static_cast<Mechanism*>(context);
    const Real change = i % 2 ? 1e-7 : -1e-7;  // a new q and a new u every time
    m.state.updQ()[0] += change;
    m.state.updU()[0] += change;
    m.system.realize(m.state, Stage::Acceleration);
}

void timeForwardDynamics(Mechanism& m, int repeats, double seconds) {
    m.system.realize(m.state, Stage::Acceleration);
    const Vector udot = m.state.getUDot();
    std::vector<double> microseconds(repeats);
    time_loop(forwardDynamics, &m, repeats, seconds, microseconds.data());
    std::printf("{");
    print_list("udot", &udot[0], udot.size(), ", ");
    print_list("microseconds", microseconds.data(), repeats, "}\n");
}

void simulate(Mechanism& m, int repeats, Real time, Real accuracy, int samples) {
    std::vector<double> seconds, qs;
    long steps = 0, attempts = 0, realizations = 0;
    for (int r = 0; r < repeats; ++r) {
        const double start = now();
        RungeKuttaMersonIntegrator integrator(m.system);
        integrator.setAccuracy(accuracy);
        integrator.setFinalTime(time);
        TimeStepper stepper(m.system, integrator);
        stepper.initialize(m.state);
        qs.clear();
        for (int s = 1; s <= samples; ++s) {
            stepper.stepTo(s == samples ? time : time * s / samples);
            const Vector& q = stepper.getState().getQ();
            for (int i = 0; i < q.size(); ++i) qs.push_back(q[i]);
        }
        seconds.push_back(1e-6 * (now() - start));
        steps = integrator.getNumStepsTaken();
        attempts = integrator.getNumStepsAttempted();
        realizations = integrator.getNumRealizations();
    }
    std::printf("{\"steps\": %ld, \"attempts\": %ld, \"evaluations\": %ld, ", steps, attempts,
                realizations);
    print_list("seconds", seconds.data(), repeats, ", ");
    print_list("q", qs.data(), (int)qs.size(), "}\n");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 5) throw std::runtime_error("see the head of the source for the arguments");
        Mechanism m;
        read(argv[2], m);
        const int repeats = std::atoi(argv[3]);
        if (std::string(argv[1]) == "udot") timeForwardDynamics(m, repeats, std::atof(argv[4]));
        else simulate(m, repeats, std::atof(argv[4]), std::atof(argv[5]), std::atoi(argv[6]));
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
