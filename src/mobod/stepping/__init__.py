"""Steps of states: kernels of runs, written once for any number of states at a time. One state is width one.

`record` says what a run's arrays hold, `evaluate` how rates are computed and y projected; `method/` has the attempt of each
method, `controller` the sizes of steps, `loop` what happens from step to step.
"""
