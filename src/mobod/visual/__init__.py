"""Pictures of mechanisms in motion, drawn with Matplotlib, which is imported when the first is made.

`mechanism` says what there is to draw, `scene` draws it at one pose, `plot` and `animate` draw a trajectory. No global
state of Matplotlib is read or changed: figures are made directly, and pyplot does not know of them.
"""
