"""The terminal, which may be gone at any moment: its window is closed, its connection breaks off."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver


class Terminal(LinuxDriver):
    """Textual's driver, which would wait for ever to write the rest to a terminal that is gone."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._file = _Unfailing(self._file)  # type: ignore[assignment, arg-type]

    @property
    def is_lost(self) -> bool:
        return self.input_tty and not os.isatty(self.fileno)

    def run_input_thread(self) -> None:
        with contextlib.suppress(OSError):  # the app looks by itself whether the terminal is still there
            super().run_input_thread()

    def close(self) -> None:
        """What is said after the screen must not fail, either."""
        super().close()
        if self.is_lost:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            os.close(nowhere)

    def _sigcont_application(self, *_: Any) -> None:
        """Continue once only: the kernel sends this with the hangup, too, and each start has threads of its own."""
        if self.is_lost or not self._auto_restart:
            return
        if not self._must_signal_resume:
            self.suspend_application_mode()
        self.resume_application_mode()


class _Unfailing:
    """A file for the thread that writes: if that died, its queue would fill up and block the screen's thread."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.fileno: Callable[[], int] = file.fileno

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._file.flush()
