"""The `fairway` command: one file for each subcommand, and the only place that wires everything together."""
