"""From the bytes of a file to plain values and the problems with them; knows YAML and types, but no kind of file."""
