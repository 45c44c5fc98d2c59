"""Packages that a file of tests needs, imported by the first of its tests: each process collects the tests of all files."""

import pytest


class Package:
    """A package by its name; where it is not installed, tests that use it are skipped."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith(("_", "pytest")):  # pytest looks whether it is a test, or a fixture
            raise AttributeError(attribute)
        return getattr(pytest.importorskip(self._name), attribute)
