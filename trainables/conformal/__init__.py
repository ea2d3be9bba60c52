"""Conformal sets: nonconformity scores, their thresholds at a target coverage, and what such sets are measured by."""
