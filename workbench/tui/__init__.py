"""SHOW: the Textual app. The app composes, screens lay out, widgets show, and nothing decides but the engine."""

import os

# Read when textual is imported: a key is answered within 8 ms instead of 16.
os.environ.setdefault("TEXTUAL_FPS", "120")
