"""Scores that are kept of runs, and what is told from them later."""
