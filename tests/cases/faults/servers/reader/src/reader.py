"""A model that reads: it gives the gold of a question that its prompt asks, where the prompt holds it.

``script`` is ``{"facts": {question: gold}, "next": {question: [[needle, next question]]}, "mode": mode}``; a mode makes
it fail in one way.
"""

from __future__ import annotations

from typing import Any

from workbench.mcp.kit import ToolServer

app = ToolServer("reader")
UNKNOWN = "I can't tell from this."
MODES = {
    "wrong": "The passages name somebody: \\boxed{Nobody Inparticular}",
    "empty": "",
    "error": "Error: the endpoint answered 500 after three tries",
}


@app.tool(output="prompt_ls,script->ans_ls")
def generate(prompt_ls: list[Any], script: dict[str, Any]) -> dict[str, list[str]]:
    """One answer per prompt."""
    return {"ans_ls": [reply(_text(prompt), script) for prompt in prompt_ls]}


def reply(prompt: str, script: dict[str, Any]) -> str:
    read, _, asked = prompt.rpartition("Question:")
    question = next((q for q in script["facts"] if q in asked), None)
    if question is None:
        return UNKNOWN
    gold = script["facts"][question]
    is_there = f"river {gold}" in read if "river" in question else gold in read
    if "Do the passages suffice?" in asked:
        return f"They do: \\boxed{{{gold} it is}}" if is_there else "<search>"
    if "Next search:" in asked:
        return next((further for needle, further in script["next"][question] if needle in read), question)
    if not is_there:
        return UNKNOWN
    if script.get("mode") == "cut":
        return f"The passages say so: \\boxed{{{gold[: len(gold) // 2]}"
    return MODES.get(script.get("mode", ""), f"The passages say so: \\boxed{{{gold}}}")


def _text(prompt: Any) -> str:
    return str(prompt["content"]["text"]) if isinstance(prompt, dict) else str(prompt)


if __name__ == "__main__":
    app.run(transport="stdio")
