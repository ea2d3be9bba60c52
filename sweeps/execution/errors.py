"""What ends a sweep."""


class ExecutorError(RuntimeError):
    """No run can be trained at all; the message says why."""
