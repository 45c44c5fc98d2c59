// Writes what Simbody 3.7's measures give along a simulation of a driven pendulum.
//
//     generate_measures OUTPUT_FILE
//
// A slider that follows a sinusoid along x carries a pendulum under gravity. Steps have a fixed size, so that what depends on
// where steps end (delays, extremes, estimated derivatives) can be compared too; reports are at ends of steps, since Simbody
// would end a step of fixed size at each, and all times are exact in binary.
// A Differentiate whose operand has derivatives is left out: Simbody 3.7 fails when it realizes one to Acceleration.
// test_measures.py builds the same and compares. Each measure is one line in main(), under a name of its own.

#include "Simbody.h"

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace SimTK;
using Text = std::string;

namespace {

const Real StepSize = 1.0 / 256, ReportInterval = 25 * StepSize;
const int NumReports = 30;

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
Text json(const Vector& value) {
    Text text = "[";
    for (int i = 0; i < value.size(); ++i) text += (i ? "," : "") + json(value[i]);
    return text + "]";
}

// A function of the state as a measure, which is how Simbody's users bring quantities of a mechanism in.
template <class T> class Of : public Measure_<T> {
public:
    SimTK_MEASURE_HANDLE_PREAMBLE(Of, Measure_<T>);
    Of(Subsystem& subsystem, Stage stage, std::function<T(const State&)> f)
    :   Measure_<T>(subsystem, new Implementation(stage, std::move(f)), AbstractMeasure::SetHandle()) {}
    SimTK_MEASURE_HANDLE_POSTSCRIPT(Of, Measure_<T>);
};
template <class T> class Of<T>::Implementation : public Measure_<T>::Implementation {
public:
    Implementation() : m_stage(Stage::Topology) {}
    Implementation(Stage stage, std::function<T(const State&)> f) : m_stage(stage), m_f(std::move(f)) {}
    Implementation* cloneVirtual() const override { return new Implementation(*this); }
    int getNumTimeDerivativesVirtual() const override { return 0; }
    Stage getDependsOnStageVirtual(int) const override { return m_stage; }
    void calcCachedValueVirtual(const State& state, int, T& value) const override { value = m_f(state); }
private:
    Stage m_stage;
    std::function<T(const State&)> m_f;
};

std::map<Text, std::vector<Text>> columns;
std::vector<std::pair<Text, std::function<Text(const State&)>>> asked;

void ask(const Text& name, std::function<Text(const State&)> f) { asked.emplace_back(name, std::move(f)); }
template <class T> void ask(const Text& name, const Measure_<T>& measure, int order = 0) {
    ask(name, [=](const State& state) { return json(measure.getValue(state, order)); });
}
template <class T> void askExtreme(const Text& name, const typename Measure_<T>::Extreme& measure) {
    ask<T>(name, measure);
    ask(name + "_time", [=](const State& state) { return json(measure.getTimeOfExtremeValue(state)); });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::Gravity gravity(forces, matter, Vec3(0, -9.81, 0));
    const Body::Rigid cart(MassProperties(2.0, Vec3(0), UnitInertia(1)));
    const Body::Rigid rod(MassProperties(1.5, Vec3(0, -0.6, 0), Inertia(0.7, 0.2, 0.9)));
    MobilizedBody::Slider slider(matter.Ground(), cart);
    MobilizedBody::Pin pin(slider, rod);
    Motion::Sinusoid motion(slider, Motion::Position, 0.2, 3.0, 0.1);
    const Vec3 tip(0.1, -1.0, 0.2);

    Of<Real> angle(matter, Stage::Position, [&](const State& s) { return pin.getAngle(s); });
    Of<Real> rate(matter, Stage::Velocity, [&](const State& s) { return pin.getRate(s); });
    Of<Vec3> place(matter, Stage::Position, [&](const State& s) { return pin.findStationLocationInGround(s, tip); });
    Of<Vec3> speed(matter, Stage::Velocity, [&](const State& s) { return pin.findStationVelocityInGround(s, tip); });

    Measure::Constant constant(matter, 2.5);
    Measure::Time time(matter);
    Measure::Variable variable(matter, Stage::Position, 0.75);
    Measure::Result result(matter, Stage::Time, Stage::Report);
    Measure::Sinusoid wave(matter, 1.2, 5.0, 0.3);
    Measure::Plus plus(matter, angle, wave);
    Measure::Minus minus(matter, angle, variable);
    Measure::Scale scale(matter, -3.0, plus);
    Measure_<Vec3>::Plus plus3(matter, place, speed);

    Measure::Constant begin(matter, 0.4);
    Measure::Integrate integral(matter, angle, begin);
    Measure::Integrate integralOfWave(matter, wave, Measure::Constant(matter, 0));
    Measure_<Vec3>::Integrate integral3(matter, place, Measure_<Vec3>::Constant(matter, Vec3(1, 2, 3)), Vec3(0));
    Measure::Integrate again(matter, integral, angle);
    Measure::Differentiate slope(matter, angle), slopeOfWave(matter, wave);
    slopeOfWave.setForceUseApproximation(true);
    Measure_<Vec3>::Differentiate slope3(matter, place);

    Measure::Maximum maximum(matter, angle);
    Measure::Minimum minimum(matter, rate);
    Measure::MaxAbs maxAbs(matter, rate);
    Measure::MinAbs minAbs(matter, rate);
    Measure_<Vec3>::Maximum maximum3(matter, place);
    Measure::Delay delay(matter, angle, 0.3171), delayShort(matter, angle, 0.0172);
    Measure_<Vec3>::Delay delay3(matter, speed, 0.25);

    ask<Real>("constant", constant);
    ask<Real>("time", time);
    ask<Real>("variable", variable);
    ask<Real>("wave", wave);
    ask<Real>("wave_1", wave, 1);
    ask<Real>("wave_2", wave, 2);
    ask<Real>("wave_3", wave, 3);
    ask<Real>("angle", angle);
    ask<Real>("rate", rate);
    ask<Vec3>("place", place);
    ask<Vec3>("speed", speed);
    ask<Real>("plus", plus);
    ask<Real>("minus", minus);
    ask<Real>("scale", scale);
    ask<Vec3>("plus3", plus3);
    ask<Real>("integral", integral);
    ask<Real>("integral_1", integral, 1);
    ask<Real>("integral_of_wave", integralOfWave);
    ask<Real>("integral_of_wave_2", integralOfWave, 2);
    ask<Vec3>("integral3", integral3);
    ask<Real>("again", again);
    ask<Real>("again_2", again, 2);
    ask<Real>("slope", slope);
    ask<Real>("slope_of_wave", slopeOfWave);
    ask<Vec3>("slope3", slope3);
    askExtreme<Real>("maximum", maximum);
    askExtreme<Real>("minimum", minimum);
    askExtreme<Real>("max_abs", maxAbs);
    askExtreme<Real>("min_abs", minAbs);
    askExtreme<Vec3>("maximum3", maximum3);
    ask<Real>("delay", delay);
    ask<Real>("delay_short", delayShort);
    ask<Vec3>("delay3", delay3);
    ask("result", [&](const State& s) {
        result.setValue(s, 2 * s.getTime());
        return json(result.getValue(s));
    });
    ask("q", [](const State& s) { return json(s.getQ()); });
    ask("u", [](const State& s) { return json(s.getU()); });

    State state = system.realizeTopology();
    pin.setAngle(state, 1.1);
    pin.setRate(state, -0.4);
    variable.setValue(state, 0.5);

    RungeKuttaMersonIntegrator integrator(system);
    integrator.setAccuracy(1e-3);
    integrator.setFixedStepSize(StepSize);
    TimeStepper stepper(system, integrator);
    stepper.initialize(state);
    std::vector<Text> times;
    for (int k = 0; k <= NumReports; ++k) {
        stepper.stepTo(k * ReportInterval);
        const State& now = integrator.getState();
        system.realize(now, Stage::Acceleration);
        times.push_back(json(now.getTime()));
        for (const auto& one : asked) columns[one.first].push_back(one.second(now));
    }

    std::FILE* out = std::fopen(argv[1], "w");
    if (!out) return 1;
    const auto list = [](const std::vector<Text>& items) {
        Text text = "[";
        for (std::size_t i = 0; i < items.size(); ++i) text += (i ? "," : "") + items[i];
        return text + "]";
    };
    std::fprintf(out, "{\"format\":1,\"source\":\"Simbody 3.7\",\"step_size\":%s,\"steps_taken\":%d,\"times\":%s,\"values\":{",
                 json(StepSize).c_str(), integrator.getNumStepsTaken(), list(times).c_str());
    bool first = true;
    for (const auto& one : asked) {
        std::fprintf(out, "%s\"%s\":%s", first ? "" : ",", one.first.c_str(), list(columns[one.first]).c_str());
        first = false;
    }
    std::fprintf(out, "}}\n");
    return std::fclose(out);
}
