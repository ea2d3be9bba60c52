"""A sweep: the planner decides, the executor runs, the recorder records; here they are joined."""
