"""Generated from proto/ by tools/generate_proto.py; edit that and run `make proto`."""
