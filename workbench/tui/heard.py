"""What a call under way has told of itself so far."""

from __future__ import annotations

from workbench.engine.events import VisitProgress

KEPT_CHARACTERS = 2_000


class Heard:
    """The progress of one visit: how far it is, in a few words, and the end of what it said."""

    def __init__(self, visit: int | None = None) -> None:
        self.visit = visit
        self.brief = ""
        self.text = ""
        self.done: float | None = None
        """Which part of it is done, where the tool told."""
        self.line = ""
        """The last line that its server wrote to stderr meanwhile."""

    def take(self, event: VisitProgress) -> None:
        """Messages without a total are the tokens of an answer and join; others stand on a line of their own."""
        message = event.message or ""
        if event.total is None:
            self.brief = f"{event.progress:g} tokens" if message else f"{event.progress:g}"
            said = message
        else:
            self.done = min(1.0, max(0.0, event.progress / event.total)) if event.total > 0 else None
            self.brief = f"{event.progress:g} of {event.total:g}{f' · {message}' if message else ''}"
            said = f"{self.brief}\n"
        self.text = (self.text + said)[-KEPT_CHARACTERS:]
