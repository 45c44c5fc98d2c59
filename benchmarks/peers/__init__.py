"""One file an engine: build it from the neutral description, convert its coordinates, time it.

Every adapter is a class with the interface of ``benchmarks.peers.engine.Engine``.
"""
