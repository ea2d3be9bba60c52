"""The slots of a cluster: how many there are, where they are, what they are given, and how they and the driver talk."""
