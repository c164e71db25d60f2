"""Runs a script that was written for UltraRAG's Python API: ``python -m workbench.ultrarag SCRIPT [ARGUMENT...]``.

``ultrarag`` is never installed at top level; the script gets ragwb's own one, whichever else is installed.
"""

from __future__ import annotations

import sys
from pathlib import Path


def ultrarag_path() -> str:
    """The folder to put first in ``sys.path`` for ``import ultrarag`` to give ragwb's own."""
    return str(Path(__file__).parent / "mcp" / "compat")


def main() -> None:
    import runpy

    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m workbench.ultrarag SCRIPT [ARGUMENT...]")
    script = Path(sys.argv[1])
    if not script.is_file():
        raise SystemExit(f"{script}: there is no such script")
    del sys.argv[0]
    sys.path[0] = str(script.resolve().parent)
    sys.path.insert(0, ultrarag_path())
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
