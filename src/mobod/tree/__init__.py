"""The science: one sweep over the tree a file, in the order in which a state is realized. Needs the algebra and the kinds."""
