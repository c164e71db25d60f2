"""The two lines at the top: where the run is and why it stands there, and what the next key does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.engine.routing import routes_in_words
from workbench.engine.state import State
from workbench.engine.values import count_of
from workbench.pipeline.model import Step, ToolStep
from workbench.tui.bars import cells
from workbench.tui.heard import Heard
from workbench.tui.model import Model, ServerState
from workbench.tui.previews import clock_time
from workbench.tui.rows import Part
from workbench.tui.text import fit, one_line

Keys = Mapping[str, str]
"""The first key of each command, by the name of the command in the configuration."""


BAR_CELLS = 12

_ESCAPE = "Esc"
"""Of no command: it goes back from whatever there is to go back from."""


def place_parts(model: Model, width: int) -> tuple[list[Part], list[Part]]:
    """The first line: file, status, step, round, branch; at the right items and time."""
    state = model.debugger.state
    pipeline = model.debugger.prepared.pipeline
    parts = [
        Part(" ragwb " if width >= 100 else "", "key"),
        Part(f" {pipeline.file.name}  ", "name"),
        *_status(model, state),
    ]
    if state.place.round:
        parts.append(Part("  round " + ", ".join(_rounds(model, state))))
    if state.place.branch:
        parts.append(Part("  branch " + " / ".join(state.place.branch)))
    count = state.pool.count
    right = [Part("  ")]
    if model.lens is not None:
        right.append(Part(f"item [{model.lens}]{f' of {count}' if count is not None else ''}  ", "front"))
    elif count is not None:
        right.append(Part(f"{count_of(count, 'item')}  "))
    return parts, [*right, Part(f"{clock_time(model.elapsed)} ")]


def reason_parts(model: Model, width: int, keys: Keys) -> tuple[list[Part], list[Part]]:
    """The second line: why it stands, and what to press; at the right the servers that are not up."""
    hints, servers = _hint(model, model.debugger.state, keys), list(_servers(model, keys))
    why = _why(model, model.debugger.state, keys)
    room = max(20, width - cells([*hints, *servers]) - 4)
    reason = [Part(fit(one_line(why.text), room), why.look), Part("  ")] if why.text else []
    return [Part(" "), *reason, *hints], servers


def _why(model: Model, state: State, keys: Keys) -> Part:
    """Why it stands, in one line; while it runs, how far its call is, and that it will be the last one."""
    if model.looked_at is not None and not model.asked:
        visit = model.visit_of_timeline(model.looked_at)
        name = f" {visit.step} {visit.name}" if visit is not None else ""
        return Part(f"looking at visit {model.looked_at}{name}: variables as they stood after it", "mark")
    if model.asked:
        asked = model.asked[0].asked
        more = f" (and {len(model.asked) - 1} more)" if len(model.asked) > 1 else ""
        return Part(f"{asked.server} waits for an answer{more}: {model.without_secrets(asked.message[:400])}", "mark")
    if state.is_past and state.stop is not None and state.stop.reason == "went back":
        offer = f"; {keys['restart_server']} restarts" if model.debugger.out_of_step() else ""
        return Part(f"in the past: {state.stop.why}{offer}; running on begins a fork", "mark")
    routes = model.debugger.routes
    if routes is not None and state.stop is not None and state.stop.reason == "step":
        return Part(f"decided: {routes_in_words(routes)}", "dim")
    if state.stop is not None and state.stop.reason != "finished":
        return Part(state.stop.why.split("\n")[0][:400], "bad" if state.stop.reason == "failed" else "dim")
    if state.status != "running":
        return Part("")
    told = ["pausing after this step"] if model.is_pausing else []
    if state.running is not None and state.running.number == model.heard.visit:
        told += _heard(model.heard, model)
    return Part(" · ".join(told), "mark" if model.is_pausing else "dim")


def _heard(heard: Heard, model: Model) -> Iterator[str]:
    """How far a call is, and the last line its server wrote."""
    bar = ""
    if heard.done is not None:
        filled = int(heard.done * BAR_CELLS)
        bar = "█" * filled + "░" * (BAR_CELLS - filled) + " "
    if bar or heard.brief:
        yield bar + heard.brief[:400]
    if heard.line:
        yield str(model.without_secrets(heard.line[:400]))


def _status(model: Model, state: State) -> Iterator[Part]:
    where = f"{state.place.step} {state.place.name}" if state.place.step is not None else "the end"
    reason = state.stop.reason if state.stop is not None else None
    if state.status == "running":
        running = state.running
        yield Part("running ", "good")
        yield Part(f"{running.step} {running.name}" if running is not None else where)
        seconds = model.clock() - running.started if running is not None else 0
        if seconds >= 1:
            yield Part(f"  {clock_time(seconds)}", "dim")
    elif state.status == "stopped" and reason in ("failed", "cancelled"):
        yield Part(f"{reason} ", "bad")
        yield Part(where)
    elif state.status == "stopped":
        yield Part("paused after " if model.debugger.routes is not None else "paused before ", "good")
        yield Part(where)
    else:
        yield Part({"finished": "finished", "starting": "starting", "closed": "closing"}[state.status], "good")


def _rounds(model: Model, state: State) -> Iterator[str]:
    blocks = (model.debugger.program.blocks[frame.block] for frame in state.cursor.frames)
    loops = [block.owner for block in blocks if block.kind == "loop"]
    for number, loop in zip(state.place.round, loops, strict=False):
        yield f"{number} of {getattr(loop, 'times', '?')}"


def _hint(model: Model, state: State, keys: Keys) -> list[Part]:
    """What the keys at hand would do now."""
    hints: list[tuple[str, str]]
    if model.asked:
        hints = [("answer_a_server", "answers"), ("cancel_call", "cancels the call")]
    elif model.looked_at is not None:
        hints = [(_ESCAPE, "returns to the present")]
    elif state.status == "running":
        hints = [*([] if model.is_pausing else [("pause", "pauses")]), ("cancel_call", "cancels the call")]
    elif state.status == "finished":
        memory = [("", f"saved as {state.memory.rpartition('/')[2]}")] if state.memory else []
        hints = [*memory, ("restart_run", "begins anew"), ("quit", "leaves")]
    elif state.status != "stopped":
        hints = []
    elif model.debugger.routes is not None:
        is_failed = state.stop is not None and state.stop.reason == "failed"
        hints = [] if is_failed else [("step_over", "follows")]
        hints += [("change_routers_decision", "changes it"), ("retry_step", "asks again")]
    elif state.stop is not None and state.stop.reason in ("failed", "cancelled"):
        hints = [("retry_step", "tries again"), ("edit_value", "edits an input")]
    else:
        hints = _next_step(model.present_step)
    parts = []
    for name, what in hints:
        key = keys.get(name, _ESCAPE if name == _ESCAPE else "")
        parts += [Part(key, "key"), Part(f" {what}   " if key else f"{what}   ", "dim")]
    return parts


def _next_step(step: Step | None) -> list[tuple[str, str]]:
    if isinstance(step, ToolStep):
        return [("step_over", f"runs {step.path} {step.name}"), ("continue", "runs on")]
    if step is None:
        return []
    return [("step_into", f"goes into the {step.name}"), ("step_over", "runs all of it")]


def _servers(model: Model, keys: Keys) -> Iterator[Part]:
    if model.saved_files:
        more = f" and {len(model.saved_files) - 1} more" if len(model.saved_files) > 1 else ""
        yield Part(f"{model.saved_files[0]}{more} saved: ", "mark")
        yield Part(keys["reload"], "key")
        yield Part(" reloads  ", "mark")
    for server in model.servers.values():
        if server.phase == "starting":
            waited = int(model.clock() - server.since)
            line = f" · {server.last_line[:60]}" if server.last_line else ""
            yield Part(f"{server.alias}: starting, {waited} s{line}  ", "dim")
        elif server.phase == "failed":
            yield Part(f"{server.alias}: failed to start  ", "bad")
        elif _has_ended(model, server):
            yield Part(f"{server.alias}: ended  ", "bad")


def _has_ended(model: Model, server: ServerState) -> bool:
    return server.phase == "exited" and model.debugger.state.status != "closed"
