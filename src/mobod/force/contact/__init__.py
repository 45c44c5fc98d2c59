"""Forces where surfaces of bodies touch.

`broad_phase` finds which are near each other, `contact.pairs` where they overlap, `law` the forces; `element` is the loop over
it all, `fields` what the record has of it, `subsystem` what users see.
"""
