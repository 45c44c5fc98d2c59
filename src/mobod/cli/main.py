"""The command `mobod`: simulates a model from the command line, and shows or saves its motion."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..compiling import get_ready
from ..errors import CommandError, MobodError
from ..importer.model import Model
from ..importer.named_models import UNITS_OF_FILES, Loaded, list_examples, path_of_model, summarize
from ..integrator import Integrator
from ..simulation.events import Event, Events
from ..simulation.trajectory import Trajectory
from ..system.system import MultibodySystem
from ..value.progress import shown
from .arguments import ACCURACY, integrators, join_gravity, keywords_of, make_parser, plain_name
from .first_run import compile_for, warm_up
from .results import FIGURES, check_pictures, check_result, is_installed, speaker
from .run_file import is_run_file, with_run_file, write_run_file
from .starting import load_and_start

#: What OpenSim keeps states in.
STATES = ".sto"
CHECKPOINT_INTERVAL = 30.0
#: Kinds of events that the summary tells.
_EVENT_LINES = 10


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Its arguments; those of the process by default.

    Returns
    -------
    int
        Exit status: 0, or 1 if nobody reads what is printed, 2 if what was asked for cannot be done, 130 if it was interrupted.
    """
    try:
        options = make_parser(_simulate, warm_up).parse_args(join_gravity(sys.argv[1:] if argv is None else list(argv)))
        options.run(options)
    except BrokenPipeError:  # who reads what is printed has seen enough, as head does; Python flushes once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (CommandError, MobodError, OSError, ValueError, ImportError) as error:
        print(f"mobod: error: {_one_line(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("mobod: interrupted", file=sys.stderr)
        return 130
    return 0


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


# ---------------------------------------------------------------------------------------------- the command


def _simulate(options: argparse.Namespace) -> None:
    if options.model is None:
        list_examples()
        return
    if is_run_file(options.model):
        options = with_run_file(options)
    if options.write_run_file is not None:
        write_run_file(options)
        return
    _check_files(options)
    get_ready()
    kind = _find_integrator(options.integrator)
    say = speaker(options.quiet)
    compile_for(options.model, kind)
    with _warnings_as_lines(options.quiet):
        loaded = load_and_start(options.model, options)
    say(f"{loaded.name}: {len(loaded.coordinates)} coordinates, {len(loaded.speeds)} speeds")
    for note in summarize(loaded.notes, options.model):
        say(f"note: {note}")
    integrator = _make_integrator(kind, loaded.system, options, say)
    try:
        with _warnings_as_lines(options.quiet):
            trajectory = _run(loaded, options, integrator)
    except (MobodError, KeyboardInterrupt) as error:
        left = getattr(error, "trajectory", None)
        if left is not None and len(left) > 1:
            say(f"stopped at time  {left.time[-1]:g}; what there is by then is kept")
            _keep_results(left, options, say, loaded.model)
        raise
    say(_summarize(trajectory))
    if options.audit or options.estimate_error:
        say(str(trajectory.audit))
    else:
        for text in trajectory.audit.warnings:
            if "audit='steps'" not in text:  # who does not ask for the balance need not hear how well it is known
                say(f"warning          {text}")
    _keep_results(trajectory, options, say, loaded.model)
    if not (options.output or options.plot or options.animate or options.replay or options.record):
        say("nothing is saved; ask for it with --output, --record, --plot, --animate or --replay")


def _keep_results(trajectory: Trajectory, options: argparse.Namespace, say: Callable[[str], None], model: Model | None) -> None:
    if options.record is not None:
        say(f"{'recording':<17}{options.record}")
    for path, what in _write_results(trajectory, options, model):
        say(f"{what:<17}{path}")


def _make_integrator(
    kind: type[Integrator] | None, system: MultibodySystem, options: argparse.Namespace, say: Callable[[str], None]
) -> Integrator:
    """The integrator; what a run file says of another one holds as far as this one takes it."""
    from ..integrator import RungeKuttaMerson

    kind = kind or RungeKuttaMerson
    known, keywords = keywords_of(kind), dict(getattr(options, "integrator_keywords", {}))
    for name in [name for name in keywords if name not in known]:
        say(f"note: {kind.__name__} takes no {name}; the run file's {name} = {keywords.pop(name)!r} is left out")
    keywords["accuracy"] = options.accuracy or keywords.get("accuracy", ACCURACY)
    if options.fixed_step_size is not None:
        keywords["fixed_step_size"] = options.fixed_step_size
    return kind(system, **keywords)


def _run(loaded: Loaded, options: argparse.Namespace, integrator: Integrator) -> Trajectory:
    from ..simulation.quantities import QUANTITY
    from ..simulation.simulate import simulate

    options.quantities = [name.removeprefix(QUANTITY) for name in options.quantities]  # as tables call them
    time = options.time or loaded.time
    interval = options.report_interval
    if interval is None and (options.animate is not None or options.replay is not None):
        interval = min(time / 200.0, 0.02)  # two rows a picture
    return simulate(
        loaded.system,
        loaded.state,
        time,
        integrator=integrator,
        report_interval=interval,
        progress=not options.quiet and is_installed("tqdm"),
        record={name: loaded.quantities.get(name, name) for name in options.quantities},
        record_bodies=options.bodies,
        record_to=options.record,
        checkpoint=options.checkpoint,
        checkpoint_interval=options.checkpoint_interval or CHECKPOINT_INTERVAL,
        resume=options.resume,
        audit=getattr(options, "work", "steps" if options.audit else "reports"),
        estimate_error=options.estimate_error,
    )


def _summarize(trajectory: Trajectory) -> str:
    span = float(trajectory.time[-1] - trajectory.time[0])
    wall = max(trajectory.wall_time, 1e-9)
    some = range(0, len(trajectory), max(1, len(trajectory) // 200))
    kinetic = float(trajectory.calc_kinetic_energy(some).max())
    audit = trajectory.audit
    relative = f" ({audit.energy_error / kinetic:.1e} of the greatest kinetic energy)" if kinetic > 0.0 else ""
    energy = f"energy drift     {audit.energy_error:.3g}{relative}"
    if audit.work:  # a drift would say little
        done = sum(audit.work.values())
        events = ", and what events have changed," if any(trajectory.events["energy"]) else ""
        energy = f"energy change    {audit.energy_change:.3g}; work of dissipating and driving forces{events} {done:.3g}"
        if audit.work_is_sampled and audit.energy_error > 0.01 * audit.energy_scale:
            energy = (
                f"energy change    {audit.energy_change:.3g}; --audit follows the work, for which reports are too far apart"
            )
        elif audit.unaccounted:
            energy += f", beside {', '.join(audit.unaccounted)}"
    return "\n".join(
        [
            f"time simulated   {span:g}, computed in {wall:.3g} s: {span / wall:,.3g} a second",
            f"steps taken      {trajectory.steps_taken:,}",
            f"evaluations      {trajectory.evaluations:,}",
            energy,
            *_tell_events(trajectory.events),
        ]
    )


def _tell_events(events: Events) -> list[str]:
    """The events of a run, a line for all of a kind."""
    groups: dict[tuple[str, ...], list[Event]] = {}
    for one in events:
        groups.setdefault((one.name, one.kind, one.direction), []).append(one)
    lines = []
    for words, some in list(groups.items())[:_EVENT_LINES]:
        times = (
            f"at {some[0].time:.6g}"
            if len(some) == 1
            else f"{len(some):,} times from {some[0].time:.6g} to {some[-1].time:.6g}"
        )
        energy = sum(one.energy for one in some)
        lines.append(f"{' '.join(filter(None, words))} {times}{f', energy {energy:+.3g}' if energy else ''}")
    if len(groups) > _EVENT_LINES:
        lines.append(f"and {len(groups) - _EVENT_LINES} more; trajectory.events of what --output saves has all")
    return [f"{'' if k else 'events':<16} {line}" for k, line in enumerate(lines)]


def _write_results(trajectory: Trajectory, options: argparse.Namespace, model: Model | None) -> Iterator[tuple[Path, str]]:
    units = None if model is None else UNITS_OF_FILES
    if options.output is not None and options.output.suffix.lower() == STATES and model is not None:
        from ..biomechanics.states import states_table
        from ..motion_data import write_sto

        write_sto(options.output, states_table(model, *(getattr(trajectory, name) for name in ("time", "q", "u", "z"))))
        yield options.output, "states"
    elif options.output is not None:
        trajectory.save(options.output)
        yield options.output, "motion"
    if options.plot is not None:
        recorded = trajectory.quantity_columns()
        drawn = [name for name in options.quantities if any(f"{one}.".startswith((f"{name}.", f"{name}[")) for one in recorded)]
        trajectory.plot(options.plot, quantities=drawn, units=units)
        yield options.plot, "plot"
    if options.animate is not None:
        with shown(not options.quiet and is_installed("tqdm"), None, "pictures", "animation: ") as progress:
            trajectory.animate(options.animate, progress=progress)
        yield options.animate, "animation"
    if options.replay is not None:
        from ..viewer.gltf_file import FORMATS

        is_gltf = options.replay.suffix.lower() in FORMATS
        if is_gltf:
            trajectory.save_gltf(options.replay)
        else:
            trajectory.save_html(options.replay, units=units)
        yield options.replay, "replay"


def _check_files(options: argparse.Namespace) -> None:
    """Find out before simulating whether the results can be written."""
    from ..simulation.hdf5_file import EXTENSIONS, import_h5py
    from ..simulation.motion_files import FORMATS

    endings: dict[str, Sequence[str]] = {
        "output": (*FORMATS, STATES) if path_of_model(options.model).suffix.lower() == ".osim" else FORMATS,
        "plot": FIGURES,
        "animate": (".gif", ".mp4"),
        "replay": (".html", ".htm", ".glb"),
        "record": EXTENSIONS,
    }
    for option, known in endings.items():
        path: Path | None = getattr(options, option)
        try:
            check_result(path, known)
        except ValueError as error:
            ending = "" if path is None else path.suffix.lower()
            others = [f"--{other}" for other, suffixes in endings.items() if ending in suffixes]
            raise CommandError(f"{error}{f'; {ending} is for {others[0]}' if others else ''}") from None
    check_result(options.checkpoint, None)
    if options.output is not None and options.output.suffix.lower() == ".parquet" and not is_installed("pyarrow"):
        raise CommandError("a .parquet file needs pyarrow: pip install 'mobod[table]'")
    if options.record is not None or (options.output is not None and options.output.suffix.lower() in EXTENSIONS):
        import_h5py("a recording on disk")
    if options.resume and options.checkpoint is None:
        raise CommandError("--resume needs --checkpoint FILE, to go on from")
    check_pictures(options.plot, options.animate)
    if options.animate is not None:
        from ..visual.animate import check_writer

        check_writer(options.animate)


@contextmanager
def _warnings_as_lines(quiet: bool) -> Iterator[None]:
    """Warnings are lines as they come, those of the kinds that mobod and NumPy give; or nothing."""
    with warnings.catch_warnings():
        shown_by_others = warnings.showwarning

        def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, (UserWarning, RuntimeWarning)):
                shown_by_others(message, category, *where, **more)
            elif not quiet:
                print(f"mobod: warning: {' '.join(str(message).split())}", file=sys.stderr)

        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("default", RuntimeWarning)  # once from each line: a force may overflow in every step
        warnings.showwarning = show
        yield


def _find_integrator(name: str | None) -> type[Integrator] | None:
    """Look up an integrator by the name of its class, in any writing: RungeKuttaMerson, runge-kutta-merson."""
    if name is None:
        return None
    kinds = integrators()
    if plain_name(name) not in kinds:
        names = ", ".join(kind.__name__ for kind in kinds.values())
        raise CommandError(f"there is no integrator {name!r}; there are {names}")
    return kinds[plain_name(name)]
