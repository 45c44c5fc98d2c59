"""Linear models of a system at a state, and where it stands still or repeats itself: what controllers are designed with."""
