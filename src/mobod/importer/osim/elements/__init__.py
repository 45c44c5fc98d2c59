"""Force elements that OpenSim's files have and `mobod.force` has not: compiled, one subject a file."""
