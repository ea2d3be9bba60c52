"""What the losses share: selections of the largest scores, noised scores, symmetric polynomials."""
