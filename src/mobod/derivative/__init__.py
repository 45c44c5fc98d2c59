"""Derivatives of the dynamics: of bodies by sweeps, of elements and constraints locally, and Jacobian-vector products."""
