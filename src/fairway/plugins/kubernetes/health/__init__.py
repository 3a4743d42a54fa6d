"""How well an object is, and why."""
