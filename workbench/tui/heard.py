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

    def take(self, event: VisitProgress) -> None:
        """Messages without a total are the tokens of an answer and join; others stand on a line of their own."""
        message = event.message or ""
        if event.total is None:
            self.brief = f"{event.progress:g} tokens" if message else f"{event.progress:g}"
            said = message
        else:
            self.brief = f"{event.progress:g} of {event.total:g}{f' · {message}' if message else ''}"
            said = f"{self.brief}\n"
        self.text = (self.text + said)[-KEPT_CHARACTERS:]
