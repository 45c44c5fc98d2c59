"""Progress bars: they move where somebody watches, and leave a line now and then in a log."""

import sys

import pytest

from mobod.value.progress import shown

pytest.importorskip("tqdm")


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    return now


def test_a_bar_shows_what_takes_longer_than_a_second(clock, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with shown(True, None, "pictures", "animation: ") as show:
        show(1, 4)
        assert capsys.readouterr().err == ""
        clock[0] = 2.0
        show(2, 4)
    assert "\ranimation:  50%" in (said := capsys.readouterr().err) and "2/4 pictures" in said


def test_a_log_has_a_line_every_half_minute(clock, capsys):
    with shown(True, 1000, "frames") as show:
        for number in range(1, 1001):
            clock[0] = 0.1 * number
            show(number, 1000)
    lines = capsys.readouterr().err.splitlines()
    assert 3 <= len(lines) <= 5 and all(line.startswith("mobod: ") and "\r" not in line for line in lines)
    assert lines[0] == "mobod: 300 of 1000 frames, 00:30 gone, 01:10 left"


def test_short_work_leaves_nothing_in_a_log(clock, capsys):
    with shown(True, 10, "frames") as show:
        for number in range(1, 11):
            clock[0] = 2.0 * number
            show(number, 10)
    assert capsys.readouterr() == ("", "")
