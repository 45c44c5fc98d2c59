"""Runs and their results: time steppers, recordings, checkpoints, audits and trajectories."""
