"""A terminal that is closed, or breaks off, ends the session; one that stays is left as it was found."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

END_OF_SCREEN = b"\x1b[?1049l"


class Window:
    """A terminal with ``ragwb replay`` in it."""

    def __init__(self, file: Path, *, is_controlling: bool) -> None:
        self.master, slave = os.openpty()

        def take_terminal() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.ragwb = subprocess.Popen(
            [sys.executable, "-m", "workbench.cli.main", "replay", str(file)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color"},
            preexec_fn=take_terminal if is_controlling else None,  # noqa: PLW1509 (one system call)
        )
        os.close(slave)
        self.read_until(b"ragwb replay")

    def read_until(self, wanted: bytes, seconds: float = 20, *, pressing: bytes = b"") -> None:
        """With ``pressing``, a key is pressed again and again: what is typed while a terminal is set up can be lost."""
        told, begin, presses = b"", time.monotonic(), 0
        while wanted not in told:
            passed = time.monotonic() - begin
            assert passed < seconds, told[-2000:]
            if pressing and passed >= presses:
                os.write(self.master, pressing)
                presses += 1
            if select.select([self.master], [], [], 0.2)[0]:
                told += os.read(self.master, 65536)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "memory_toy_rag_20250101_120000.json"
    file.write_text(json.dumps([{"step": "a.b", "memory": {"memory_q_ls": ["who?"]}}]), encoding="utf-8")
    return file


@pytest.fixture(params=[True, False], ids=["with a hangup", "without one"])
def window(saved: Path, request: pytest.FixtureRequest) -> Iterator[Window]:
    window = Window(saved, is_controlling=request.param)
    yield window
    window.ragwb.kill()
    window.ragwb.wait()


def test_a_terminal_that_is_gone(window: Window) -> None:
    os.close(window.master)
    assert window.ragwb.wait(8) == 0


def test_a_terminal_that_stays(window: Window) -> None:
    window.ragwb.send_signal(signal.SIGTERM)
    window.read_until(END_OF_SCREEN)
    assert window.ragwb.wait(8) == 0
    assert termios.tcgetattr(window.master)[3] & termios.ICANON
    os.close(window.master)


def test_continued_twice_it_has_one_reader(window: Window) -> None:
    for _ in range(2):
        window.ragwb.send_signal(signal.SIGCONT)
        time.sleep(0.3)
    window.read_until(END_OF_SCREEN, pressing=b"q")
    deadline = time.monotonic() + 8
    while window.ragwb.poll() is None and time.monotonic() < deadline:
        if select.select([window.master], [], [], 0.1)[0]:
            try:
                os.read(window.master, 65536)
            except OSError:
                break
    assert window.ragwb.wait(3) == 0
    os.close(window.master)
