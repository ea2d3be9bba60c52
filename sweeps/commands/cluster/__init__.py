"""Commands about studies on a cluster that they are submitted to."""
