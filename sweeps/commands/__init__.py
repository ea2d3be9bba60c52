"""The commands of the command line, with typed arguments."""
