"""Loggers as UltraRAG hands them out; they write to stderr, which ragwb shows."""

from __future__ import annotations

import logging
import os

from workbench.mcp.kit import make_logger

__all__ = ["get_logger", "tqdm_disabled"]


def get_logger(name: str, level: str | None = None) -> logging.Logger:
    """A logger that writes to stderr from ``level`` on; without one, from that of the environment."""
    return make_logger(name, level)


def tqdm_disabled() -> bool:
    """Whether progress bars are unwanted."""
    return os.environ.get("TQDM_DISABLE", "").lower() in ("1", "true", "yes")
