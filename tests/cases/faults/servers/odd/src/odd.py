"""Steps with a fault in them."""

from __future__ import annotations

import re

from workbench.mcp.kit import ToolServer

app = ToolServer("odd")


@app.tool(output="prompt_ls->prompt_ls")
def rotate(prompt_ls: list[dict]) -> dict[str, list[dict]]:
    """Every prompt goes to the next item."""
    return {"prompt_ls": [*prompt_ls[-1:], *prompt_ls[:-1]]}


@app.tool(output="ans_ls->pred_ls")
def first_tag(ans_ls: list[str]) -> dict[str, list[str]]:
    """What stands between tags that the model never writes; else its first word."""
    found = (re.search(r"<answer>(.*?)</answer>", answer) for answer in ans_ls)
    return {"pred_ls": [f[1] if f else answer.split()[0] for f, answer in zip(found, ans_ls, strict=True)]}


@app.tool(output="ans_ls->pred_ls")
def nothing(ans_ls: list[str]) -> dict[str, list[str]]:
    """Loses every answer."""
    return {"pred_ls": ["" for _ in ans_ls]}


@app.tool(output="ans_ls->ans_ls")
def inverted(ans_ls: list[str]) -> dict[str, list[dict]]:
    """Stops those that ask for a search, and lets the others go on."""
    return {"ans_ls": [{"data": a, "state": "stop" if "<search>" in a else "continue"} for a in ans_ls]}


@app.tool(output="ret_psg->ret_psg")
def last_only(ret_psg: list[list[str]]) -> dict[str, list[list[str]]]:
    """Keeps the last passage of each item."""
    return {"ret_psg": [passages[-1:] for passages in ret_psg]}


@app.tool(output="pred_ls->pred_ls")
def rotate_predictions(pred_ls: list[str]) -> dict[str, list[str]]:
    """Every prediction goes to the next item."""
    return {"pred_ls": [*pred_ls[-1:], *pred_ls[:-1]]}


@app.tool(output="ans_ls->ans_ls")
def rotate_answers(ans_ls: list[str]) -> dict[str, list[str]]:
    """Every answer goes to the next item."""
    return {"ans_ls": [*ans_ls[-1:], *ans_ls[:-1]]}


if __name__ == "__main__":
    app.run(transport="stdio")
