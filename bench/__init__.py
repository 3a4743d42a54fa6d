"""What Fairway costs, each figure as a ratio to the bare operation in the same run. `make bench` prints the table."""
