"""START.  The ragwb command; it wires the rooms together."""
