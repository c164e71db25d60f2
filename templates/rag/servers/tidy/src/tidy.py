"""A server of this project: makes short answers of what a model says."""

from __future__ import annotations

import re

from workbench.mcp.kit import ToolServer

app = ToolServer("tidy")

END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")


# "inputs->outputs": q_ls, ans_ls and the like are variables of the pipeline, max_words is a parameter.
@app.tool(output="ans_ls,max_words->pred_ls")
def first_sentence(ans_ls: list[str], max_words: int) -> dict[str, list[str]]:
    """The first sentence of each answer, without its full stop."""
    return {"pred_ls": [shortened(answer, max_words) for answer in ans_ls]}


def shortened(answer: str, max_words: int) -> str:
    sentence = END_OF_SENTENCE.split(answer.strip(), maxsplit=1)[0]
    return " ".join(sentence.rstrip(".!?。！？").split()[:max_words])


if __name__ == "__main__":
    app.run(transport="stdio")
