"""Exit codes, the same for every command."""

from enum import IntEnum


class Exit(IntEnum):
    WELL = 0
    FAILED = 1
    WRONG = 2
    NO_SERVER = 3
    STOPPED = 4
    INTERRUPTED = 130
