"""Units of length, as motion files name them."""

#: Metres in each.
UNITS = {
    "m": 1.0,
    "meters": 1.0,
    "metres": 1.0,
    "meter": 1.0,
    "metre": 1.0,
    "dm": 0.1,
    "cm": 0.01,
    "centimeters": 0.01,
    "mm": 1e-3,
    "millimeters": 1e-3,
    "millimetres": 1e-3,
    "millimeter": 1e-3,
    "um": 1e-6,
    "in": 0.0254,
    "inches": 0.0254,
    "ft": 0.3048,
}
