"""TALK.  The servers: start, call, restart, record every line on the wire; the kit that servers are written with."""
