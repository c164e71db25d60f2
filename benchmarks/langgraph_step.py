"""The same step in langgraph: a state of 50 lists of 1,000 texts, a node that changes one of them."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph


def langgraph_steps(folder: Path, variables: int, items: int) -> tuple[float, float]:
    """Median seconds of a step, without a checkpointer and with the SQLite one."""
    names = [f"v{n}" for n in range(variables)]
    state = TypedDict("state", {**dict.fromkeys(names, list), "round": int})  # type: ignore[misc]

    def change(now: dict[str, Any]) -> dict[str, Any]:
        values = list(now["v0"])
        for place in range(3):
            values[place * 7 % items] = f"{now['round']}.{place} " + "lorem ipsum " * 3
        return {"v0": values, "round": now["round"] + 1}

    graph = StateGraph(state)
    graph.add_node("change", change)
    graph.add_edge(START, "change")
    graph.add_conditional_edges("change", lambda now: END if now["round"] >= 100 else "change")
    begin = {name: [f"{name}.{n} lorem ipsum lorem ipsum lorem" for n in range(items)] for name in names}

    def seconds(app: Any, config: dict[str, Any], **how: Any) -> float:
        times = []
        last = time.perf_counter()
        for _ in app.stream({**begin, "round": 0}, {"recursion_limit": 200, **config}, stream_mode="updates", **how):
            now = time.perf_counter()
            times.append(now - last)
            last = now
        return statistics.median(times)

    bare = seconds(graph.compile(), {})
    with SqliteSaver.from_conn_string(str(folder / "langgraph.sqlite")) as saver:
        kept = seconds(graph.compile(checkpointer=saver), {"configurable": {"thread_id": "1"}}, durability="sync")
    return bare, kept
