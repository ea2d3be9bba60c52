"""The rule system: what a setting may be, and what is said where it is something else."""
