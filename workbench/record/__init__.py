"""KEEP.  What a run leaves behind: the memory file, and what must be masked in it."""
