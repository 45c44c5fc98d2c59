"""Scalars, and tuples of them: what every kernel is written in. Imports nothing of the package above it."""
