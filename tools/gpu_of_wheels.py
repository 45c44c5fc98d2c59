"""What wheels have in place of `mobod.gpu`, which nobody has proven on a GPU yet."""

raise ImportError(
    "mobod.gpu has not been proven on a GPU and is in no wheel of mobod; "
    "install the sources, in a checkout of them: pip install --editable ."
)
