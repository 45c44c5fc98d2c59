"""Many states of one system at once, eight to a vector register."""
