"""Networks: a table from name to the network that turns inputs into features, and heads on top."""
