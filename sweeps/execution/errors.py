"""What ends a sweep."""


class ExecutorError(RuntimeError):
    """No run can be trained at all; the message says why."""


class StorageLostError(ExecutorError):
    """What was recorded is gone, and nothing can be added to it."""
