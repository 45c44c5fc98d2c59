"""Studies: many runs of one model, on all cores and on many machines, and the parameters that they are made with."""
