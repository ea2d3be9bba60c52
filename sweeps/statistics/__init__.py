"""Means, intervals and comparisons over seeds."""
