"""Derivatives of the dynamics: of bodies by sweeps, of elements and constraints locally, and of all else as Jacobian-vector products."""
