"""Where runs run: on a Ray cluster, in this process, or in simulated time."""
