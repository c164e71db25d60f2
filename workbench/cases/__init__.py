"""STUDY.  Saved runs: their visits, and one item's way through them."""
