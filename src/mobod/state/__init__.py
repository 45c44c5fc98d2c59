"""States: what a system keeps at an instant, how far it has been realized, and the parts that subsystems own of it."""
