"""Runs of many states in lanes: what kernels do at each of a run's turns, a file each; `run` has the order."""
