"""Pictures of a system as data: surfaces, lines, planes and texts fixed to bodies, and poses over time.

`Mechanism` is the description that pictures (`visual/`), pages in the browser and files of motion (`viewer/`) are made of.
"""
