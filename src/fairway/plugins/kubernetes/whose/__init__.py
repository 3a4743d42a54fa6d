"""Whose an object is that is there already, and which applications there are."""
