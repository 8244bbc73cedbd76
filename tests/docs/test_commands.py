"""What a page shows a reader typing works, and answers what the page shows.

A block marked `console` is run line by line on one fresh store a page. Ids, times and digests are masked on both sides.
A picture is drawn on the store that the commands above it leave.
"""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hivekeep.cli.commands import root
from hivekeep.gate.policy import load_gate
from hivekeep.settings import load_settings
from support.pages import Command, blocks, commands, written_pages

MASKS = (
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<digest>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"), "<time>"),
    (re.compile(r"\b\d+[smh] ago\b"), "<ago>"),
    (re.compile(r"\b[0-9a-f]{8}\b"), "<short id>"),
)
SHOWING = {path: list(commands(text)) for path, text in written_pages().items() if blocks(text, "console")}
PICTURE = re.compile(r"^hivekeep graph ([^\n]+)\n```\n+```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURES = [(path, match) for path, text in written_pages().items() for match in PICTURE.finditer(text)]
TOML = [
    (path, block) for path, text in written_pages().items() for block in blocks(text, "toml") if block.startswith("# ")
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory with an empty store in it, which the program takes for the user's."""
    folder = tmp_path.resolve()
    for name, value in {
        "HOME": folder,
        "HIVEKEEP_DB": folder / "hive.db",
        "HIVEKEEP_SAVE_TO_ROOT": folder / "exports",
        "HIVEKEEP_STORAGE_DISK_RESERVE_BYTES": 0,
        "HIVEKEEP_EMBEDDING_MODELS": "none",
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(folder)
    return folder


def masked(value: Any, home: Path) -> Any:
    """The value without what differs from run to run."""
    text = json.dumps(value).replace(f"{home}/", "")
    for pattern, name in MASKS:
        text = pattern.sub(name, text)
    return json.loads(text)


def run(command: Command) -> Any:
    """The JSON value that a command prints."""
    outcome = CliRunner().invoke(root, command.arguments)
    assert outcome.stderr == "", command.line
    return json.loads(outcome.stdout)


def test_the_pages_show_commands() -> None:
    """The README and the guides to the languages are the pages whose commands are run, two of them show a picture."""
    assert set(SHOWING) == {
        "README.md",
        "docs/guides/getting-started.md",
        "docs/guides/memory.md",
        "docs/guides/messages.md",
        "docs/guides/query.md",
        "docs/guides/request-language.md",
        "docs/guides/schedules.md",
        "docs/guides/sessions.md",
        "docs/guides/tasks.md",
        "docs/guides/tuning.md",
    }
    assert [path for path, _ in PICTURES] == ["README.md", "docs/guides/getting-started.md"]


@pytest.mark.parametrize("path", SHOWING)
def test_a_shown_command_answers_what_the_page_shows(path: str, home: Path) -> None:
    """Each line is a hivekeep command; its answer equals the JSON below it, or succeeds where none is shown."""
    for command in SHOWING[path]:
        assert command.line.startswith("hivekeep exec ")
        answer = run(command)
        if command.shown is None:
            assert answer["status"] == "success", command.line
        else:
            assert masked(answer, home) == masked(command.shown, home), command.line


@pytest.mark.parametrize(("path", "picture"), PICTURES, ids=[path for path, _ in PICTURES])
def test_a_shown_picture_is_the_one_that_its_command_writes(path: str, picture: re.Match[str], home: Path) -> None:
    """The Mermaid text below a `hivekeep graph` line is the file it writes, after the commands that stand above it."""
    for command in commands(written_pages()[path][: picture.start()]):
        run(command)
    CliRunner().invoke(root, ["graph", *shlex.split(picture[1])])
    (written,) = home.glob("*.mmd")
    assert written.read_text(encoding="utf-8") == picture[2]


@pytest.mark.parametrize(("path", "block"), TOML, ids=lambda value: value.splitlines()[0])
def test_a_shown_configuration_file_is_accepted(path: str, block: str, home: Path) -> None:
    """A TOML block names the file it belongs to in its first line, and the program reads it without a complaint."""
    kind = block.split()[1].rstrip(",")
    file = home / kind
    file.write_text(block, encoding="utf-8")
    if kind == "policy.toml":
        settings = load_settings({"gate.policy_file": str(file)}, {}, home).settings
        assert load_gate(settings).name == "policy"
    else:
        assert kind == "hivekeep.toml"
        loaded = load_settings({"config": str(file)}, {}, home)
        assert str(file) in loaded.origins.values()
