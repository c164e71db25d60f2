"""What is given away of a run: hostile content stays inert, and nothing leaves."""

from __future__ import annotations

import json
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.cases.toy import ANSWERS, PREDICTIONS, QUESTIONS, visits, write
from workbench.cli.main import main

BROWSERS = [found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))]
HOSTILE = (
    "</pre></dd></dl><script>document.title='owned'</script><img src='http://127.0.0.1:{port}/x' onerror="
    "\"document.title='owned'\"><svg onload=\"document.title='owned'\"><a href=\"javascript:document.title='owned'\">"
    '<link rel=stylesheet href=http://127.0.0.1:{port}/s><meta http-equiv=refresh content="0;http://127.0.0.1:{port}/">'
    "<style>@import 'http://127.0.0.1:{port}/c';</style>\x1b]52;c;eA==\x07 ```` | x"
)


def hostile_run(folder: Path, port: int = 9) -> Path:
    text = HOSTILE.replace("{port}", str(port))
    content = visits(q_ls=[text, *QUESTIONS[1:]], ans_ls=[text, *ANSWERS[1:]], pred_ls=[text, *PREDICTIONS[1:]])
    return write(folder, [*content, {"step": text, "memory": {f"memory_{text}": text}}])


def test_a_page_holds_no_markup_but_its_own(tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    assert main(["export", str(hostile_run(tmp_path)), "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    for tag in ("<script", "<img", "<svg", "<link", "<iframe", "<style>@", 'href="javascript'):
        assert tag not in text
    assert "&lt;script&gt;" in text
    assert "\x1b" not in text


@pytest.mark.skipif(not BROWSERS, reason="there is no Chromium here")
@pytest.mark.slow
def test_a_browser_runs_nothing_and_asks_for_nothing(tmp_path: Path) -> None:
    asked: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Listener)
    Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port
    page, careless = tmp_path / "out.html", tmp_path / "careless.html"
    careless.write_text(f"<title>x</title>{HOSTILE.replace('{port}', str(port))}", encoding="utf-8")
    shown(careless, tmp_path)
    assert asked, "the same content does its harm where nobody takes care"
    asked.clear()
    main(["export", str(hostile_run(tmp_path, port)), "--html", str(page)])
    printed = shown(page, tmp_path)
    server.shutdown()
    assert "<title>ragwb: " in printed
    assert "&lt;script&gt;document.title='owned'" in printed
    assert "<title>owned" not in printed
    assert asked == []


def shown(page: Path, folder: Path) -> str:
    """The page as a browser has it after three seconds of its own time."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder / 'user'}"]
    command = [BROWSERS[0], *options, "--virtual-time-budget=3000", "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout


def test_markdown_takes_nothing_for_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(hostile_run(tmp_path)), "--markdown", "--items", "0"]) == 0
    out = capsys.readouterr().out
    for line in out.splitlines():
        if line.startswith("|"):
            assert "<script" not in line.replace("\\<", "")
    assert "`````text" in out, "the fence is longer than the backticks in the text"


def test_json_holds_each_items_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(write(tmp_path, visits())), "--json", "--items", "3"]) == 0
    data = json.loads(capsys.readouterr().out)
    (row,) = data["rows"]
    assert (row["item"], row["verdict"]["stage"]) == (3, "extraction")
    assert [step["name"] for step in row["way"]][-1] == "custom.output_extract_from_boxed"
    assert row["way"][4]["wrote"] == {"ans_ls": ANSWERS[3]}


def test_secrets_are_masked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-very-secret-0123456789")
    file = write(tmp_path, visits(pred_ls=["sk-very-secret-0123456789", *PREDICTIONS[1:]]))
    for way in (["--json"], ["--markdown"], ["--html", str(tmp_path / "o.html")]):
        assert main(["export", str(file), *way]) == 0
    assert main(["why", str(file), "--item", "0"]) == 0
    assert main(["why", str(file), "--json"]) == 0
    out = capsys.readouterr().out + (tmp_path / "o.html").read_text()
    assert "very-secret" not in out
    assert "sk-…789" in out


def test_what_can_not_be_exported_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(write(tmp_path, visits()))
    for options, said in (
        (["export", file, "--test", "3"], "name the session file"),
        (["export", file, "--json", "--items", "9"], "its items are 0 to 5"),
        (["why", file, "--metric", "bleu"], "it has em, f1"),
        (["why", file, "--role", "x=y"], "ROLE is one of"),
        (["why", file, "--where", "f1 <"], "can't read"),
        (["diff", file], "two runs are compared"),
        (["why", str(tmp_path / "none.json")], "no such file"),
    ):
        assert main(options) == 2
        assert said in capsys.readouterr().err
