"""Attempts at a step, a method a file.

An attempt is ``attempt(model, run, time, h)``. It writes y at the end of a step of size h, from the row Y at *time*, into the
record, where steps are controlled the error of each variable into the row of errors, and how often it has computed rates into
`EVALUATED`. It returns 0, or NaN where rates were not finite; `APART` is positive where what it iterates does not converge.
"""
