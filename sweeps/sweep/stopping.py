"""SIGTERM, by which job schedulers stop a process, as another Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Within it SIGTERM raises KeyboardInterrupt; after it, it means what it meant. In a thread it changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    interrupt_on_sigterm()
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def interrupt_on_sigterm() -> None:
    """Have SIGTERM raise KeyboardInterrupt (again: Ray takes it when it starts)."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, interrupt)
