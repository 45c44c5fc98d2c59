"""Files of every kind that mobod writes, and damage done to them: bits flipped, bytes replaced, ends cut off, zeros."""

import zlib

import numpy as np

import mobod as mb

#: Of a trajectory, by extension, a checkpoint and a run file. Text has no checksum: it may be read as other numbers.
KINDS = (".h5", ".npz", ".parquet", ".ckpt", ".csv", ".toml")
TEXT = (".csv", ".toml")


def model():
    system, state = mb.examples.double_pendulum.build()
    state.q = [0.5, 0.2]
    return system, state


def write_all(folder):
    """One file of each kind; and the trajectory that is in them."""
    system, state = model()
    keywords = {"report_interval": 0.02, "record": {"a/b": lambda state: state.time}, "record_bodies": True}
    run = mb.simulate(system, state, 2.0, **keywords, record_to=folder / "run.h5", checkpoint=folder / "run.ckpt")
    for extension in (".npz", ".parquet", ".csv"):
        run.save(folder / f"run{extension}")
    (folder / "run.toml").write_text('model = "double_pendulum"\ntime = 0.1\n\n[integrator]\nname = "RungeKuttaMerson"\n')
    return run


def damaged(data, rng):
    """*data* with one fault in it, and what that is."""
    kind = rng.choice(["bit", "bit", "bytes", "cut", "zeros", "grown"])
    at = int(rng.integers(len(data)))
    if kind == "bit":
        return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :], f"bit at {at}"
    if kind == "bytes":
        more = rng.bytes(int(rng.integers(1, 9)))
        return (data[:at] + more + data[at + len(more) :])[: len(data)], f"bytes at {at}"
    if kind == "cut":
        return data[:at], f"cut at {at}"
    if kind == "zeros":
        count = min(len(data) - at, int(rng.choice([16, 512, 4096])))
        return data[:at] + bytes(count) + data[at + count :], f"{count} zeros at {at}"
    return data + rng.bytes(int(rng.integers(1, 600))), "bytes at the end"


def content(path):
    """All that is in a file: a checksum of what whoever reads it gets. Raises what they get to see."""
    kind = path.suffix
    if kind == ".ckpt":
        system, _ = model()
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-4))
        stepper.load_checkpoint(path)
        return zlib.crc32(stepper.state.y.tobytes()), stepper.integrator.get_num_steps_taken()
    if kind == ".toml":
        from mobod.cli.run_file import read_run_file

        return repr(read_run_file(path))
    run = mb.Trajectory.load(path)
    arrays = [run.time, run.q, run.u, run.z, run.energy, run.body_poses, *run.quantities.values()]
    about = run.coordinate_names, run.speed_names, run.body_names, list(run.quantities), repr(sorted(run.statistics.items()))
    return [np.asarray(array).tobytes() for array in arrays], about


def outcome(path, whole):
    """ "error" where reading *path* is one that names it, "same" where it gives *whole*, and else what is wrong."""
    from mobod.errors import CommandError

    try:
        got = content(path)
    except (mb.ModelError, CommandError, ValueError) as error:
        return "error" if path.name in str(error) else f"an error that does not name the file: {error!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "same" if got == whole else "other content"
