"""What is around ragwb: the terminal, the network of this machine, the folders it writes to."""

from __future__ import annotations

import locale
import os
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from workbench.cli.doctor.findings import Finding
from workbench.pipeline.user_folders import state_folder

_COLUMNS, _LINES = 80, 24
_KITTY = ("xterm-kitty", "xterm-ghostty")
_OSC_52 = ("kitty", "ghostty", "wezterm", "alacritty", "foot", "iterm", "contour")
"""Terminals that let a program fill the clipboard, unless they are set otherwise."""


def terminal() -> Iterator[Finding]:
    """What the screen can count on. Nothing is asked of the terminal itself: these are guesses by its name."""
    group, env = "terminal", os.environ
    kind = env.get("TERM_PROGRAM") or env.get("TERM") or ""
    if not (sys.stdin.isatty() or sys.stdout.isatty() or sys.stderr.isatty()):
        yield Finding(group, "terminal", "none here", "missing", "ragwb run, check and replay --json do without")
    name = f"TERM={env.get('TERM', '')}" + (f", {env['TERM_PROGRAM']}" if "TERM_PROGRAM" in env else "")
    unfit = env.get("TERM", "") in ("", "dumb")
    yield Finding(group, "kind", name, "missing" if unfit else "ok", "the screen needs more than that" if unfit else "")
    yield _size(group)
    yield _colours(group)
    encoding = locale.getpreferredencoding(False)
    is_utf8 = encoding.lower().replace("-", "") == "utf8"
    advice = "" if is_utf8 else "set LANG=C.UTF-8, or lines and Chinese text come out garbled"
    yield Finding(group, "text", encoding, "ok" if is_utf8 else "missing", advice)
    if "TMUX" in env:
        advice = "set -s set-clipboard on; set -as terminal-features ',*:RGB'"
        yield Finding(group, "tmux", "yes", "ok", f"for the clipboard and all colours, in tmux.conf: {advice}")
    if "SSH_TTY" in env:
        yield Finding(group, "ssh", "yes: what is copied has to pass through the terminal (OSC 52)")
    yield Finding(group, "images", _images(kind))
    can_copy = any(name in f"{kind} {env.get('TERM', '')}".lower() for name in _OSC_52)
    yield Finding(group, "clipboard", "OSC 52, very likely" if can_copy else "OSC 52 perhaps")


def _size(group: str) -> Finding:
    for stream in (0, 1, 2):
        try:
            size = os.get_terminal_size(stream)
        except OSError:
            continue
        fits = size.columns >= _COLUMNS and size.lines >= _LINES
        advice = "" if fits else f"the screen is laid out for {_COLUMNS}x{_LINES} and more"
        return Finding(group, "size", f"{size.columns}x{size.lines}", "ok" if fits else "missing", advice)
    return Finding(group, "size", "unknown", "missing")


def _colours(group: str) -> Finding:
    env = os.environ
    if "NO_COLOR" in env:
        return Finding(group, "colours", "none: NO_COLOR is set")
    if env.get("COLORTERM", "").lower() in ("truecolor", "24bit") or env.get("TERM", "") in _KITTY:
        return Finding(group, "colours", "16 million")
    few = "256" if "256" in env.get("TERM", "") else "16"
    return Finding(group, "colours", few, "ok", "COLORTERM=truecolor gives all, if your terminal has them")


def _images(kind: str) -> str:
    env = os.environ
    if "KITTY_WINDOW_ID" in env or env.get("TERM") in _KITTY or kind in ("ghostty", "WezTerm"):
        return "kitty's protocol, very likely"
    if kind == "iTerm.app":
        return "iTerm's protocol, very likely"
    return "sixel, very likely" if kind in ("foot", "mlterm", "contour") else "drawn with letters"


def loopback() -> Iterator[Finding]:
    """Whether programs of this machine can talk to each other over 127.0.0.1."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError as error:
        advice = "endpoints and servers on this machine can't be reached; look for a firewall or a sandbox"
        yield Finding("network", "127.0.0.1", f"closed: {error}", "missing", advice)
    else:
        yield Finding("network", "127.0.0.1", "open")


def folders() -> Iterator[Finding]:
    """The folders that runs write to, and those of the user."""
    group = "folders"
    yield _folder(group, "output/", Path("output"), needed=True)
    yield _folder(group, "sessions/", Path("sessions"), needed=True)
    state = state_folder()
    yield _folder(group, "state and log", state, needed=False)
    trust = state / "trust"
    if trust.is_dir() and stat.S_IMODE(trust.stat().st_mode) & 0o077:
        yield Finding(group, "trust", f"open to others: {trust}", "missing", f"chmod 700 {trust}")


def _folder(group: str, name: str, folder: Path, *, needed: bool) -> Finding:
    """A folder that can be written to, or made."""
    place = folder.absolute()
    existing = next((path for path in (place, *place.parents) if path.exists()), place)
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Finding(group, name, f"{place}" + ("" if existing == place else ", not there yet"))
    reason = "can't be written to" if existing.is_dir() else "is no folder"
    advice = "go to a folder of yours, or change its permissions"
    return Finding(group, name, f"{existing} {reason}", "wrong" if needed else "missing", advice)
