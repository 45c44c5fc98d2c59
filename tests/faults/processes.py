"""Processes of their own, for what this one would not survive."""

import os
import subprocess
import sys
from pathlib import Path

#: What each begins with: a limit of the size of files that is an error and no signal, and a watchdog.
HEAD = """
import contextlib, faulthandler, os, signal, sys
import numpy as np
import mobod as mb
faulthandler.enable()
faulthandler.dump_traceback_later(100, exit=True)

@contextlib.contextmanager
def files_of_at_most(size):
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


def run(code, folder, *arguments):
    """The output of *code*, run in *folder*; it has to end well."""
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    # no bytecode: Python 3.11 keeps a file that a limit has cut off, for every process to fail on
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", HEAD + code, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
