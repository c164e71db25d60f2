"""TALK.  Servers: start, call, restart, record every line on the wire; the kit that they are written with."""
