"""300 MiB of further addresses: what does not fit is a MemoryError that says how much was asked for; the process goes on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mobod as mb

SCRIPT = """
import faulthandler, json, resource, threading
faulthandler.dump_traceback_later(300, exit=True)
import numpy as np
import mobod as mb
system, state = mb.examples.double_pendulum.build()
system.realize(state)
before = state.u_dot.copy()
ensemble = mb.Ensemble(system, 16, state=state)
ensemble.step(0.01)

def long_chain():
    system = mb.MultibodySystem()
    body = mb.SimbodyMatterSubsystem(system).ground
    link = mb.body.Rigid(mb.MassProperties(1.5, (0.1, 0.2, -0.1), mb.UnitInertia(0.4, 0.5, 0.6)))
    for _ in range(4000):
        body = mb.mobilizer.Pin(body, link)
    state = system.realize_topology()
    system.realize(state)
    return system, state

chain, links = long_chain()
x, kept, said = np.ones(4000), [], {}
chain.matter.multiply_by_m_inv(links, x)
chain.calc_inverse_dynamics(links, x)
with open("/proc/self/statm") as pages:
    limit = int(pages.read().split()[0]) * resource.getpagesize() + (300 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

def attempt(name, call):
    try:
        call()
        said[name] = "no error"
    except MemoryError as error:
        said[name] = str(error)
    kept.clear()

attempt("states", lambda: mb.Ensemble(system, 10**7, state=state))
attempt("more states than addresses", lambda: mb.Ensemble(system, 10**12, state=state))
attempt("rows of many", lambda: ensemble.simulate(10.0, report_interval=1e-6))
attempt("mass matrices", lambda: kept.extend(chain.matter.calc_m(links) for _ in range(9)))
attempt("inverses", lambda: kept.extend(chain.matter.calc_m_inv(links) for _ in range(9)))
derivatives = chain.calc_forward_dynamics_derivatives
attempt("derivatives", lambda: kept.extend(derivatives(links, q=links.q, u=links.u) for _ in range(9)))

many = lambda: mb.Ensemble(system, 10**9, state=state)
workers = [threading.Thread(target=attempt, args=(f"thread {i}", many)) for i in range(3)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()

def fill(call):  # at last, as it leaves a thread no room; places first: what fails then is what compiled code allocates
    held = [None] * 60000
    kept.append(held)
    for i in range(len(held)):
        held[i] = call()

attempt("in compiled code", lambda: fill(lambda: chain.matter.multiply_by_m_inv(links, x)))
attempt("in compiled code, too", lambda: fill(lambda: chain.calc_inverse_dynamics(links, x)))
system.realize(state)
ensemble.step(0.01)
assert np.array_equal(state.u_dot, before)
print(json.dumps(said))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no limit of addresses here")
def test_what_does_not_fit_says_how_much_it_is():
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(mb.__file__).parents[1]),
        "MOBOD_QUIET": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    said = json.loads(ended.stdout)
    assert len(said) == 11
    for name, text in said.items():
        assert text.startswith("Unable to allocate "), (name, text)
