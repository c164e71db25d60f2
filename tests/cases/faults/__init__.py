"""Runs of real pipelines, each with one fault planted in it: the proof of ``ragwb why``."""
