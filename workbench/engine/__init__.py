"""RUN.  Program, Cursor, VariablePool, Breakpoint and Debugger: commands in, events out."""
