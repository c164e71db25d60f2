"""Makes a saved session ready to be gone on with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.api.wiring import Wiring, log
from workbench.pipeline.fingerprint import differences, fingerprints
from workbench.pipeline.prepare import prepare
from workbench.record.session_reader import SavedSession, read_about, read_session


def saved_wiring(path: Path, *, say: Callable[[str], None] = log) -> Wiring:
    """The session of a file; ``say`` hears what became of it since.

    Raises ``SessionUnreadable``; ``PipelineError`` where its pipeline can't be read any more.
    """
    about = read_about(path)
    options = about.get("options", {})
    prepared = prepare(
        Path(about["pipeline"]),
        param_file=options.get("param"),
        sets=options.get("sets") or [],
        mcp_config=options.get("mcp_config"),
    )
    saved = read_session(path, prepared.parameters, prepared.secrets)
    wiring = Wiring(prepared, options, saved, say=say)
    if saved.interrupted is not None:
        wiring.note(f"{saved.interrupted} was interrupted in its call: it runs anew")
    for what in differences(saved.pipeline.fingerprints, fingerprints(prepared)):
        wiring.note(f"changed since: {what}{_touched(what, saved)}")
    return wiring


def _touched(what: str, saved: SavedSession) -> str:
    """Which visits ran with what a server or its parameters were; they are not run again."""
    alias = what.rpartition(" ")[2]
    visits = [visit.number for visit in saved.timelines[saved.present].visits if visit.alias == alias]
    if what == "pipeline" or not visits:
        return ""
    numbers = ", ".join(map(str, visits[:8])) + (f" and {len(visits) - 8} more" if len(visits) > 8 else "")
    return f"; {'visit' if len(visits) == 1 else 'visits'} {numbers} ran with what it was (go back to run anew)"
