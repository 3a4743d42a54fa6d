"""Waiting until what was applied is there, well, and still what was applied."""
