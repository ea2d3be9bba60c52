"""Short measurements before the training: whether a run fits, what it takes, what may share a device."""
