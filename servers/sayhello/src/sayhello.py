"""The smallest server there is: one tool, one parameter, one output."""

from __future__ import annotations

from workbench.mcp.kit import ToolServer

app = ToolServer("sayhello")


@app.tool(output="name->msg")
def greet(name: str) -> dict[str, str]:
    """Greet someone by name."""
    return {"msg": f"Hello, {name}!"}


if __name__ == "__main__":
    app.run(transport="stdio")
