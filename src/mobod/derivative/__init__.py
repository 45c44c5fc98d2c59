"""Derivatives of the dynamics: of elements and constraints, locally, and the linear systems that accelerations follow from."""
