"""Which programs of which project may be started: a file for each project, in the user's state folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from workbench.cli.starts import Start
from workbench.pipeline.fingerprint import differences
from workbench.pipeline.user_folders import state_folder


class Trust(Struct, frozen=True):
    """What is trusted of a project: the programs (key -> alias, and the hashes of their code).

    ``is_own`` is set for a project whose servers the user writes: there the code may change unasked.
    """

    is_own: bool = False
    programs: dict[str, dict[str, Any]] = field(default_factory=dict)

    def objection(self, start: Start) -> str | None:
        """Why a program has to be asked about: it is new, or what of it has changed; None where it may start."""
        known = self.programs.get(start.key)
        if known is None:
            same_name = any(program.get("alias") == start.alias for program in self.programs.values())
            return "started in another way than before" if same_name else "not started before"
        changed = differences(known.get("files") or {}, start.files)
        return f"changed since: {', '.join(changed)}" if changed and not self.is_own else None

    def with_programs(self, starts: Iterable[Start], *, is_own: bool) -> Trust:
        """The same, with these programs as they are now."""
        added = {start.key: {"alias": start.alias, "files": start.files} for start in starts}
        return Trust(self.is_own or is_own, {**self.programs, **added})


def read_trust(project: Path) -> Trust:
    """What is trusted of a project; nothing where the file can't be read."""
    try:
        kept = json.loads(_file(project).read_text(encoding="utf-8"))
        programs = {key: dict(program) for key, program in kept["programs"].items()}
        return Trust(bool(kept["own"]), programs) if kept["project"] == str(project) else Trust()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Trust()


def write_trust(project: Path, trust: Trust) -> None:
    """Keep it, for the user's eyes only. Raises ``OSError``."""
    file = _file(project)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = {"project": str(project), "own": trust.is_own, "programs": trust.programs}
    growing = file.with_suffix(f".{os.getpid()}")
    growing.touch(mode=0o600)
    growing.write_text(json.dumps(content, indent=1), encoding="utf-8")
    os.replace(growing, file)


def forget_trust(project: Path) -> bool:
    """Forget it; whether there was any. Raises ``OSError``."""
    file = _file(project)
    was_there = file.exists()
    file.unlink(missing_ok=True)
    return was_there


def _file(project: Path) -> Path:
    name = hashlib.blake2b(str(project).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return state_folder() / "trust" / f"{name}.json"
