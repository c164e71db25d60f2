"""READ.  YAML text becomes a Pipeline: typed steps with line and column, checks, bindings."""
