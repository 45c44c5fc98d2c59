// Writes motions that Simbody 3.7 finds at tight accuracy, by RungeKuttaMerson and by CPodes.
//
//     generate_simulations OUTPUT_FILE [ONE_MECHANISM]
//
// Each mechanism is a function below, and one of the same name in tests/integrator/test_against_simbody.py, which compares:
// what is driven and damped by forces of many kinds; linkages that constraints close; particles of a bath.
// Steps end at reports, so that nothing is interpolated. How far the two integrators are apart says how good they are.

#include "Simbody.h"

#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace SimTK;
using Text = std::string;

namespace {

const Real Accuracy = 1e-10;
const int NumReports = 10;

struct Mechanism {
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    GeneralForceSubsystem forces{system};
    State state;
    Real time = 1, accuracyOfCPodes = Accuracy;
};

Body::Rigid rod() { return Body::Rigid(MassProperties(1.5, Vec3(0, -0.4, 0), Inertia(0.35, 0.05, 0.4))); }
Body::Rigid block() { return Body::Rigid(MassProperties(2.0, Vec3(0.1, 0.05, -0.1), Inertia(0.5, 0.6, 0.7))); }

// A cart that follows a sinusoid carries a pendulum with a stop, a ball joint, and by springs a body that is free.
void driven(Mechanism& m) {
    Force::Gravity(m.forces, m.matter, Vec3(0, -9.81, 0));
    MobilizedBody::Slider cart(m.matter.Ground(), block());
    Motion::Sinusoid(cart, Motion::Position, 0.2, 3.0, 0.1);
    MobilizedBody::Pin pendulum(cart, rod());
    MobilizedBody::Ball swing(pendulum, Transform(Vec3(0, -0.8, 0)), rod(), Transform(Vec3(0, 0.1, 0)));
    MobilizedBody::Free loose(m.matter.Ground(), Transform(Vec3(1, 0, 0)), block(), Transform());
    Force::TwoPointLinearSpring(m.forces, m.matter.Ground(), Vec3(1, 1, 0), loose, Vec3(0, 0.2, 0), 60, 0.5);
    Force::TwoPointLinearSpring(m.forces, swing, Vec3(0, -0.8, 0), loose, Vec3(-0.2, 0, 0), 25, 0.7);
    Force::TwoPointLinearDamper(m.forces, m.matter.Ground(), Vec3(0, 0, 1), loose, Vec3(0, 0, 0.3), 1.5);
    Force::TwoPointConstantForce(m.forces, cart, Vec3(0), loose, Vec3(0.1, 0, 0), 0.8);
    Force::LinearBushing(m.forces, m.matter.Ground(), Transform(Vec3(1, 0, 0)), loose, Transform(Vec3(0.05, 0, 0)),
                         Vec6(8, 9, 10, 40, 50, 60), Vec6(0.3, 0.2, 0.1, 1, 2, 1.5));
    Force::MobilityLinearSpring(m.forces, pendulum, MobilizerQIndex(0), 5, 0.2);
    Force::MobilityLinearDamper(m.forces, pendulum, MobilizerUIndex(0), 0.3);
    Force::MobilityLinearStop(m.forces, pendulum, MobilizerQIndex(0), 300, 0.4, -0.3, 0.5);
    Force::MobilityConstantForce(m.forces, swing, MobilizerUIndex(1), 0.5);
    Force::ConstantForce(m.forces, loose, Vec3(0, 0.1, 0), Vec3(0.5, 3, -1));
    Force::ConstantTorque(m.forces, swing, Vec3(0.1, -0.2, 0.3));
    Force::GlobalDamper(m.forces, m.matter, 0.05);
    m.state = m.system.realizeTopology();
    pendulum.setAngle(m.state, 0.4);
    swing.setU(m.state, Vec3(0.5, -1.0, 0.8));
    loose.setU(m.state, Vec6(1.0, 0.5, -0.7, 0.2, 0.3, -0.4));
    m.time = 2;
}

// A crank that a torque turns against friction, and a rocker: a massless rod between their tips.
void fourBar(Mechanism& m) {
    Force::Gravity(m.forces, m.matter, Vec3(0, -9.81, 0));
    MobilizedBody::Pin crank(m.matter.Ground(), rod());
    MobilizedBody::Pin rocker(m.matter.Ground(), Transform(Vec3(2, 0, 0)), rod(), Transform(Vec3(0, 0.5, 0)));
    Constraint::Rod(crank, Vec3(0, -0.5, 0), rocker, Vec3(0, -0.8, 0), 1.9);
    Force::MobilityConstantForce(m.forces, crank, MobilizerUIndex(0), 25);
    Force::MobilityLinearDamper(m.forces, crank, MobilizerUIndex(0), 4);
    Force::TwoPointLinearSpring(m.forces, m.matter.Ground(), Vec3(3, -1, 0), rocker, Vec3(0, -0.8, 0), 20, 0.6);
    m.state = m.system.realizeTopology();
    crank.setAngle(m.state, 0.3);
    rocker.setAngle(m.state, -0.2);
    m.accuracyOfCPodes = 1e-8;  // finer ones it gets stuck on
    m.time = 1.2;  // CPodes gets stuck at 1.44
}

// A crank that turns steadily, a coupler on a ball joint, and a rocker across: a second ball joint closes the loop.
void spatialFourBar(Mechanism& m) {
    Force::Gravity(m.forces, m.matter, Vec3(0, -9.81, 0));
    MobilizedBody::Pin crank(m.matter.Ground(), rod());
    Motion::Steady(crank, 2.5);
    MobilizedBody::Ball coupler(crank, Transform(Vec3(0, -0.3, 0)), rod(), Transform(Vec3(0, 0.6, 0)));
    const Transform across(Rotation(Pi / 2, YAxis), Vec3(1, 0, 0.5));
    MobilizedBody::Pin rocker(m.matter.Ground(), across, rod(), Transform(Vec3(0, 0.7, 0)));
    Constraint::Ball(coupler, Vec3(0, -1.1, 0), rocker, Vec3(0, -0.5, 0));
    Force::GlobalDamper(m.forces, m.matter, 0.2);
    Force::MobilityLinearDamper(m.forces, rocker, MobilizerUIndex(0), 0.1);
    m.state = m.system.realizeTopology();
    m.accuracyOfCPodes = 1e-8;  // finer ones it gets stuck on
    m.time = 2;
}

// Blocks on springs in a bath.
void bath(Mechanism& m) {
    MobilizedBody::Free one(m.matter.Ground(), block());
    MobilizedBody::Free two(m.matter.Ground(), Transform(Vec3(1, 0.5, 0)), block(), Transform());
    MobilizedBody::Pin three(two, Transform(Vec3(0, 0, 0.3)), rod(), Transform());
    Force::TwoPointLinearSpring(m.forces, one, Vec3(0.2, 0, 0), two, Vec3(0, 0.1, 0.2), 40, 0.5);
    Force::TwoPointLinearSpring(m.forces, m.matter.Ground(), Vec3(0, -1, 0), one, Vec3(0), 30, 0.4);
    Force::TwoPointLinearSpring(m.forces, m.matter.Ground(), Vec3(1, 1, 1), three, Vec3(0, -0.8, 0), 20, 0.3);
    Force::Thermostat(m.forces, m.matter, 0.5, 4.0, 0.3, 0);
    m.state = m.system.realizeTopology();
    one.setU(m.state, Vec6(1, -0.5, 0.7, 0.4, 0, 0.2));
    two.setU(m.state, Vec6(-0.3, 0.8, 0.1, 0, 0.5, -0.3));
    three.setRate(m.state, 1.5);
    m.time = 1;
}

Text json(Real value) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
    return buffer;
}
Text json(const Vector& value) {
    Text text = "[";
    for (int i = 0; i < value.size(); ++i) text += (i ? "," : "") + json(value[i]);
    return text + "]";
}

Text run(const Mechanism& m, Integrator& integrator, Real accuracy) {
    integrator.setAccuracy(accuracy);
    integrator.setConstraintTolerance(accuracy);
    integrator.setAllowInterpolation(false);
    integrator.setInternalStepLimit(100000);  // CPodes has one of 500 otherwise
    TimeStepper stepper(m.system, integrator);
    stepper.initialize(m.state);
    Text q = "[", u = "[", energy = "[";
    for (int k = 0; k <= NumReports; ++k) {
        stepper.stepTo(m.time * k / NumReports);
        const State& now = integrator.getState();
        m.system.realize(now, Stage::Dynamics);
        q += (k ? "," : "") + json(now.getQ());
        u += (k ? "," : "") + json(now.getU());
        energy += (k ? "," : "") + json(m.system.calcEnergy(now));
    }
    std::printf("  %s: %d steps\n", integrator.getMethodName(), integrator.getNumStepsTaken());
    return "{\"q\":" + q + "],\"u\":" + u + "],\"energy\":" + energy + "],\"steps_taken\":" +
           std::to_string(integrator.getNumStepsTaken()) + "}";
}

Text simulate(const Text& name, const std::function<void(Mechanism&)>& build) {
    std::printf("%s\n", name.c_str());
    Mechanism m;
    build(m);
    m.system.prescribe(m.state);
    m.system.realize(m.state, Stage::Position);
    Assembler assembler(m.system);
    assembler.setErrorTolerance(1e-12);
    assembler.assemble(m.state);
    m.system.realize(m.state, Stage::Velocity);
    m.system.projectU(m.state, 1e-12);
    RungeKuttaMersonIntegrator merson(m.system);
    CPodesIntegrator cpodes(m.system, CPodes::BDF, CPodes::Newton);
    const Text byMerson = run(m, merson, Accuracy), byCPodes = run(m, cpodes, m.accuracyOfCPodes);
    return "{\"name\":\"" + name + "\",\"time\":" + json(m.time) + ",\"q\":" + json(m.state.getQ()) + ",\"u\":" +
           json(m.state.getU()) + ",\"RungeKuttaMerson\":" + byMerson + ",\"CPodes\":" + byCPodes + "}";
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) return 2;
    try {
        const std::vector<std::pair<Text, std::function<void(Mechanism&)>>> all{
            {"driven", driven}, {"four_bar", fourBar}, {"spatial_four_bar", spatialFourBar}, {"bath", bath}};
        Text cases;
        for (const auto& one : all)
            if (argc == 2 || one.first == argv[2]) cases += (cases.empty() ? "" : ",") + simulate(one.first, one.second);
        std::FILE* out = std::fopen(argv[1], "w");
        if (!out) return 1;
        std::fprintf(out, "{\"format\":1,\"source\":\"Simbody 3.7\",\"accuracy\":%s,\"cases\":[%s]}\n", json(Accuracy).c_str(),
                     cases.c_str());
        return std::fclose(out);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
