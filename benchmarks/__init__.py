"""What mobod costs, beside Simbody, Pinocchio and MuJoCo on the same models; one question a file.

Run all of it with ``python -m benchmarks``, or one question with ``python -m
benchmarks.forward_dynamics``; every one of them takes ``--quick`` and ``--json FILE``.
"""
