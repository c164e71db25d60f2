"""What is read from a server's text, and where it is known to be incomplete: correct servers must not be refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.lab import prepared, refused
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.project import ServerSource
from workbench.pipeline.static_source import read_declaration

HEAD = "from workbench.mcp.kit import ToolServer\napp = ToolServer('x')\n"
GO = "def go(q_ls): ...\n"
KNOWN = "@app.tool(output='q_ls->a')\ndef known(q_ls): ...\n"

LOOP_IN_A_CLASS = """
class Tools:
    def __init__(self, app):
        for method in (self.go,):
            app.tool(method)

    def go(self): ...

Tools(app)
"""
REFERENCE_STYLE = """
from ultrarag.server import UltraRAG_MCP_Server
app = UltraRAG_MCP_Server("x")

class Retriever:
    def __init__(self, mcp_inst: UltraRAG_MCP_Server):
        mcp_inst.tool(self.init, output="path->None")
        mcp_inst.tool(self.search, output="q_ls,top_k->ret_psg")
        mcp_inst.prompt(self.ask, output="q_ls->prompt_ls")
        mcp_inst.logger.info("three")

    def init(self, path): ...
    async def search(self, query_list, top_k=5): ...
    def ask(self, q_ls): ...

if __name__ == "__main__":
    Retriever(app)
    app.run(transport="stdio")
"""


def declared(folder: Path, text: str) -> ServerDeclaration:
    script = folder / "x.py"
    script.write_text(text, encoding="utf-8")
    declaration, problems = read_declaration(ServerSource("x", "x", "project", folder, script=script))
    assert declaration is not None
    assert problems == []
    return declaration


def test_methods_registered_one_by_one(tmp_path: Path) -> None:
    found = declared(tmp_path, REFERENCE_STYLE)
    assert found.complete
    assert {name: (tool.kind, tool.annotation) for name, tool in found.tools.items()} == {
        "init": ("tool", "path->None"),
        "search": ("tool", "q_ls,top_k->ret_psg"),
        "ask": ("prompt", "q_ls->prompt_ls"),
    }
    assert [(a.name, a.required) for a in found.tools["search"].arguments] == [("query_list", True), ("top_k", False)]


@pytest.mark.parametrize(
    "text",
    [
        f"@app.tool('run', output='q_ls->b')\n{GO}",
        f"@app.tool(name='run', output='q_ls->b', description=GONE)\n{GO}",
        f"{GO}app.tool(go, name='run', output='q_ls->b')\n",
    ],
)
def test_names_of_their_own(tmp_path: Path, text: str) -> None:
    found = declared(tmp_path, HEAD + text)
    assert found.complete
    assert {name: tool.annotation for name, tool in found.tools.items()} == {"run": "q_ls->b"}


@pytest.mark.parametrize(
    "text",
    [
        f"@app.tool(NAME, output='q_ls->b')\n{GO}",
        f"@app.tool(name=NAME, output='q_ls->b')\n{GO}",
        f"@app.tool(output=OUT)\n{GO}",
        f"@app.tool(output=f'q_ls->{{OUT}}')\n{GO}",
        f"@app.tool(output='q_ls->b', outputs_from=FROM)\n{GO}",
        f"@app.tool(output='q_ls->b', whole=[TABLE])\n{GO}",
        f"@app.tool(output='q_ls->b', **options)\n{GO}",
        f"@app.tool(output='q_ls->b', meta={{'ragwb': {{}}}})\n{GO}",
        f"@app.tool(output='q_ls->b')\n@changing\n{GO}",
        f"if FAST:\n    @app.tool(output='q_ls->b')\n    {GO}",
        f"try:\n    @app.tool(output='q_ls->b')\n    {GO}except ImportError: pass\n",
        f"def add(name):\n    @app.tool(output='q_ls->b')\n    {GO}    return go\nadd('x')\n",
        f"{GO}for name in ['a', 'b']:\n    app.tool(go, name=name, output='q_ls->b')\n",
        f"{GO}go.__name__ = 'run'\napp.tool(go, output='q_ls->b')\n",
        f"{GO}setattr(go, '__name__', 'run')\napp.tool(go, output='q_ls->b')\n",
        f"{GO}go = changed(go)\napp.tool(go, output='q_ls->b')\n",
        f"{GO}app.tool('go', output='q_ls->b')(go)\n",
        f"{GO}list(map(app.tool, [go]))\n",
        f"{GO}register = app.tool\nregister(go)\n",
        f"{GO}FAST and app.tool(go)\n",
        LOOP_IN_A_CLASS,
        f"@app.tool(output='q_ls->b')\n{GO}@app.tool(output='q_ls->c')\n{GO}",
    ],
)
def test_what_is_not_written_out_is_unknown(tmp_path: Path, text: str) -> None:
    found = declared(tmp_path, HEAD + KNOWN + text)
    assert not found.complete
    assert list(found.tools) == ["known"]


@pytest.mark.parametrize(
    "text",
    [
        "import more\nmore.add(app)\n",
        "from more import add\nadd(server=app)\n",
        "def pass_on(server):\n    more.add(server)\npass_on(app)\n",
        "class A:\n    def __init__(self, server):\n        self.mine = server\n        more.add(self.mine)\nA(app)\n",
        "class Tools(Base):\n    def __init__(self, server): ...\nTools(app)\n",
        "other = app\nmore.add(other)\n",
        "shared['app'] = app\n",
        "getattr(app, 'tool')(print)\n",
        "app.add_tool(made)\n",
        "app.mount(other)\n",
        "b = ToolServer('b')\n",
        "def give():\n    return app\n",
        "app = wrapped(app)\n",
    ],
)
def test_an_app_that_is_handed_on_may_get_more_tools(tmp_path: Path, text: str) -> None:
    found = declared(tmp_path, HEAD + KNOWN + text)
    assert not found.complete
    assert list(found.tools) == ["known"]


@pytest.mark.parametrize(
    "text",
    [
        "from shared import app\n@app.tool(output='q_ls->a')\ndef known(q_ls): ...\n",
        f"from fastmcp import FastMCP\napp = FastMCP('x', tools=[print])\n{KNOWN}",
        f"from mine import MyServer\napp = MyServer('x')\n{KNOWN}",
        f"from fastmcp import FastMCP as Server\napp = Server('x')\nmore.add(app)\n{KNOWN}",
    ],
)
def test_an_app_that_is_not_simply_made_here(tmp_path: Path, text: str) -> None:
    assert not declared(tmp_path, text).complete


def test_a_module_beside_the_script_may_register_tools(tmp_path: Path) -> None:
    (tmp_path / "more.py").write_text("import again\n", encoding="utf-8")
    (tmp_path / "again.py").write_text("VALUE = 1\n", encoding="utf-8")
    assert declared(tmp_path, f"{HEAD}import more\n{KNOWN}").complete
    (tmp_path / "again.py").write_text("from __main__ import app\napp.tool(print)\n", encoding="utf-8")
    assert not declared(tmp_path, f"{HEAD}import more\n{KNOWN}").complete


def test_a_server_without_tools_is_known_to_have_none(project: Path) -> None:
    (project / "servers/lab/src/lab.py").write_text(HEAD + "app.run()\n", encoding="utf-8")
    assert "server `lab` has no tool or prompt `go`; it has none" in refused(project, "- lab.go\n")


def test_steps_that_are_not_checked_are_told(project: Path) -> None:
    assert prepared(project, "- lab.get\n").unchecked == ()
    with (project / "servers/lab/src/lab.py").open("a", encoding="utf-8") as server:
        server.write("more.add(app)\n")
    assert prepared(project, "- lab.get\n").unchecked == ()
    assert prepared(project, "- lab.get\n- lab.go\n- lab.note: {input: {q_ls: made}}\n").unchecked == ("lab",)
    (project / "servers/lab/src/lab.py").write_text("serve()\n", encoding="utf-8")
    assert prepared(project, "- lab.get\n").unchecked == ("lab",)
