"""What ends a sweep."""


class ExecutorError(RuntimeError):
    """No run can be trained at all; the message says why."""


class UnseenStorageError(ExecutorError):
    """A node of the cluster does not see the storage, which only shows there."""


class StorageLostError(ExecutorError):
    """What was recorded is gone, and nothing can be added to it."""
