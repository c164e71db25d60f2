"""OFFER: a debugger with everything that belongs to it, for the command and for programs."""
