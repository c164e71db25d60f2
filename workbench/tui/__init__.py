"""SHOW.  The Textual app: screens, widgets, messages."""
