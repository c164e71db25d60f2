"""ragwb: a debugger for RAG pipelines that lives in the terminal."""

__version__ = "0.1.0"
