"""A study file: read, checked and complete."""
