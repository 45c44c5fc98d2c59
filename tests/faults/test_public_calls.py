"""What each public function does with what makes no sense: as the table says, and without a crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinds.constraints import CONSTRAINTS
from kinds.forces import FORCES
from kinds.functions import FUNCTIONS
from kinds.integrators import INTEGRATORS
from kinds.mobilizers import MOBILIZERS

HERE = Path(__file__).parent
TABLE = HERE / "public_calls.txt"


#: Kinds with a record need no row in the table where they refuse all that makes no sense, as they should.
RECORDS = {
    "constraint": CONSTRAINTS,
    "force": FORCES,
    "function": FUNCTIONS,
    "integrator": INTEGRATORS,
    "mobilizer": MOBILIZERS,
}
KINDS = {f"{family}.{record.kind.__name__}" for family, records in RECORDS.items() for record in records.values()}


def needs_row(name, letters):
    return name not in KINDS or not set(letters) <= set("TVIM")


@pytest.mark.long
def test_the_table_of_wrong_calls():
    """``python public_calls.py > public_calls.txt`` writes it anew, with rows that are not needed; look at what has changed."""
    done = subprocess.run([sys.executable, HERE / "public_calls.py"], capture_output=True, text=True, env={**os.environ})
    assert done.returncode == 0, f"after {done.stderr.splitlines()[-60:]}"
    now, then = dict(map(str.split, done.stdout.splitlines())), dict(map(str.split, TABLE.read_text().splitlines()))
    now = {name: letters for name, letters in now.items() if needs_row(name, letters)}
    changed = {name: (then[name], now[name]) for name in now.keys() & then.keys() if now[name] != then[name]}
    assert not changed
    assert not sorted(now.keys() - then.keys()), "public names that the table lacks"
    assert not sorted(then.keys() - now.keys()), "names in the table that are gone"
    assert not [name for name, letters in now.items() if "!" in letters], "what was wrong is not said"
