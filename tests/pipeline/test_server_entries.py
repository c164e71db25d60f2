"""Entries under ``servers:`` as MCP clients write them, and their whole configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError
from workbench.pipeline.project import RemoteAddress, ServerSource
from workbench.record.redaction import Redactor


def read(project: Path, servers: str, steps: str = "- x.go\n", mcp_config: str | None = None) -> Prepared:
    file = project / "p.yaml"
    file.write_text(f"{servers}pipeline:\n{steps}", encoding="utf-8")
    return prepare(file, mcp_config=mcp_config)


def source(project: Path, entry: str) -> ServerSource:
    return read(project, f"servers:\n  x: {entry}\n").sources["x"]


def wrong(project: Path, entry: str) -> str:
    with pytest.raises(PipelineError) as error:
        source(project, entry)
    return str(error.value).removeprefix(str(project / "p.yaml"))


# ---- addresses


def test_an_address_is_a_text_or_a_map(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "tools.example")
    (project / ".env").write_text("SEARCH_TOKEN=sesame-0815\n")
    assert source(project, "http://localhost:80/mcp/").address == RemoteAddress("http://localhost:80/mcp/")
    found = source(
        project,
        '{url: "https://${HOST}/mcp?api_key=k-4711-4711", headers: {Authorization: "Bearer ${SEARCH_TOKEN}", '
        "User-Agent: ragwb, X-Tenant: tenant-one}, type: sse}",
    )
    assert found.address == RemoteAddress(
        "https://tools.example/mcp?api_key=k-4711-4711",
        {"Authorization": "Bearer sesame-0815", "User-Agent": "ragwb", "X-Tenant": "tenant-one"},
        "sse",
    )
    assert found.secrets == {"sesame-0815", "k-4711-4711", "tenant-one"}
    assert "sesame" not in repr(found)


def test_what_is_masked_then(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "ghp-aaaabbbbcccc")
    monkeypatch.setenv("SHORT_TOKEN", "postgres")
    servers = (
        'servers:\n  x: {command: run, args: [--api-key, k-123456, "--to=${GH_TOKEN}"], env: {DB_PASSWORD: hidden1}}\n'
    )
    ready = read(project, servers)
    redactor = Redactor.of(ready.parameters, ready.secrets)
    text = redactor.text("k-123456 ghp-aaaabbbbcccc hidden1 postgres")
    assert text == "… ghp…ccc … postgres"
    assert ready.sources["x"].entry == "run --api-key k-123456 '--to=${GH_TOKEN}'"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("https://${NO_SUCH}/mcp", ":2:6: server 'x': it needs the environment variable `NO_SUCH`; set it, or put it"),
        (
            '{url: "http://h/mcp", headers: {A: "${NO_A}"}}',
            ":2:41: server 'x': it needs the environment variable `NO_A`",
        ),
        ("{command: go, args: [a, $x, '${NO_B}']}", ":2:34: server 'x': it needs the environment variable `NO_B`"),
        ("{url: 'ftp://h/mcp'}", ":2:12: server 'x': its address must be as in https://host/mcp"),
        ("http://", ":2:6: server 'x': its address must be as in"),
        ("{url: 'http://h', transport: websocket}", ":2:35: server 'x': unknown transport 'websocket'"),
        ("{url: 'http://h', header: {A: b}}", ":2:32: server 'x': unknown key `header`; did you mean `headers`?"),
        ("{url: 'http://h', headers: {'A b': c}}", "server 'x': 'A b' can't be the name of a header"),
        ('{url: "http://h", headers: {A: "b\\nc"}}', "the header `A` must be ASCII without line ends"),
        ("{url: 'http://h', headers: [A]}", ":2:33: server 'x': `headers` must be a map"),
        ("{url: 'http://h', command: go}", "server 'x': it has both `command` and `url`"),
        ("{args: [go]}", ":2:6: server 'x': a map needs `command` (with `args`, `env`, `cwd`) or `url`"),
        ("{command: npx -y server}", ":2:16: server 'x': write {command: npx, args: [-y, server]}"),
        ("{command: go, disabled: true}", ":2:30: server 'x': it is disabled there"),
        ("", ":2:5: server 'x' has no source: give a folder, a .py file, an http(s):// address, or a map"),
        ("[go]", "server 'x' must be a folder, a .py file, an http(s):// address, or a map"),
    ],
)
def test_mistakes_have_their_place(project: Path, entry: str, said: str) -> None:
    text = wrong(project, entry)
    assert said in text
    if said.startswith(":"):
        assert text.startswith(said[:5].rstrip(" "))


def test_a_command_as_clients_write_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.setenv("WHERE", "there")
    found = source(
        project,
        "{type: stdio, command: ~/bin/go, args: [~/data, '${WHERE}', '$$5', 3], env: {N: 1, ON: true, E: '', "
        "P: '${WHERE}'}, cwd: sub, disabled: false, alwaysAllow: []}",
    )
    assert found.command == ("/home/u/bin/go", "/home/u/data", "there", "$5", "3")
    assert found.env == {"N": "1", "ON": "true", "E": "", "P": "there"}
    assert found.cwd == project / "sub"


# ---- an MCP client's configuration

CURSOR = """{
\t"mcpServers": {
\t\t"x": {"command": "npx", "args": ["-y", "thing", "${workspaceFolder}"],
\t\t\t"env": {"K": "${env:XK}", "D": "${NO_D:-d e}", "X": "${XK:-2}"}},
\t\t"unused": {"url": "http://h/mcp", "headers": {"A": "${NOT_SET_ANYWHERE}"}}
\t}
}
"""
CODE = """// of VS Code
{
  "servers": {
    "x": {"type": "http", "url": "https://h/mcp"}, /* trailing commas */
  },
}
"""


def config(project: Path, text: str) -> str:
    file = project / "mcp.json"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("servers", ["", "servers:\n", "servers: {x: }\n", "servers: {lab: servers/lab}\n"])
def test_servers_of_a_clients_configuration(project: Path, servers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XK", "1")
    found = read(project, servers, mcp_config=config(project, CURSOR)).sources
    assert found["x"].command == ("npx", "-y", "thing", str(project))
    assert found["x"].env == {"K": "1", "D": "d e", "X": "1"}
    assert "unused" not in found
    found = read(project, servers, mcp_config=config(project, CODE)).sources
    assert found["x"].address == RemoteAddress("https://h/mcp", transport="http")


def test_a_source_of_the_pipelines_own_counts_more(project: Path) -> None:
    ready = read(project, "servers: {x: servers/lab}\n", "- x.get\n", config(project, CURSOR))
    assert ready.sources["x"].origin == "project"


def test_steps_of_servers_that_are_in_neither(project: Path) -> None:
    with pytest.raises(PipelineError, match=r"p\.yaml:2:3: step 1: there is no server `xx`; did you mean `x`\?"):
        read(project, "", "- xx.go\n", config(project, CURSOR))


def test_a_mistake_in_it_is_told_with_its_place_there(project: Path) -> None:
    with pytest.raises(PipelineError, match=r"mcp\.json:5:\d+: server 'unused': it needs the environment variable"):
        read(project, "", "- unused.go\n", config(project, CURSOR))
    asking = '{"mcpServers": {"x": {"command": "go", "env": {"K": "${input:key}"}}}}'
    with pytest.raises(PipelineError, match=r"server 'x': `\$\{input:key\}` is asked for by the client"):
        read(project, "", mcp_config=config(project, asking))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"tools": [], "model": "m"}', "{url}; this file has `tools`, `model`"),
        ("[]", "this is a list"),
        ("", "this file is empty"),
        ('{"mcpServers": []}', "this file has `mcpServers`"),
        ('{"mcpServers": {', "mcp.json:2:1: not valid YAML"),
    ],
)
def test_a_file_of_another_shape(project: Path, text: str, said: str) -> None:
    with pytest.raises(PipelineError) as error:
        read(project, "", mcp_config=config(project, text))
    assert said in str(error.value)
    assert len(error.value.problems) == 1


def test_a_file_that_is_not_there(project: Path) -> None:
    with pytest.raises(PipelineError, match=r"mcp\.json: no such file"):
        read(project, "", mcp_config=str(project / "mcp.json"))
