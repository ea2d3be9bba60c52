"""What a command's exit code says."""

DONE = 0
FAILED = 1  # some runs failed, or none could be started
BAD_INPUT = 2
STOPPED = 130  # by Ctrl-C or SIGTERM
