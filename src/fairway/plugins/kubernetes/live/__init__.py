"""What runs, by watching."""
