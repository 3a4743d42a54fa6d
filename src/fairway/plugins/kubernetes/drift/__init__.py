"""How what runs differs from Git."""
