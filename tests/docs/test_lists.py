"""Lists that stand in a page and in the program are equal, and names in pages exist."""

import re
import tomllib
from typing import Any

import click
import pytest

from hivekeep.cli.commands import root
from hivekeep_contract.catalog import VERBS
from hivekeep_contract.settings import SETTINGS
from hivekeep_contract.vocabulary import ENUMS, TRANSITIONS
from support.pages import ROOT, blocks, code_spans, links, table_rows, written_pages

PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)[0].split())
REQUIREMENT = re.compile(r"([A-Za-z0-9-]+)(.*)")
MAKE = re.compile(r"^make ([a-z -]+?)(?= *(?:#|[A-Z]|$))", re.MULTILINE)
SETTING_TABLES = {setting.key.partition(".")[0] for setting in SETTINGS if "." in setting.key}
VARIABLES = {name for setting in SETTINGS for name in setting.env}
KEYS = {setting.key for setting in SETTINGS}


def requirements(lines: list[str]) -> dict[str, str]:
    """Version and marker by package; a line that names this project's own extras is none."""
    found = [match for line in lines if (match := REQUIREMENT.fullmatch(line)) and not line.startswith("hivekeep[")]
    return {match[1]: match[2].strip() or "any" for match in found}


@pytest.mark.parametrize(
    ("heading", "lines"),
    [
        ("## Run time", PYPROJECT["project"]["dependencies"]),
        *((f"## `{name}`", lines) for name, lines in PYPROJECT["project"]["optional-dependencies"].items()),
        ("## Build", PYPROJECT["build-system"]["requires"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_page_of_dependencies_is_the_list_of_pyproject(heading: str, lines: list[str]) -> None:
    """Each table names the packages of its group with their versions, and says license and reason of each."""
    rows = table_rows((ROOT / "docs/dependencies.md").read_text(encoding="utf-8"), heading)
    assert {name: version.strip("`") for name, version, *_ in rows} == requirements(lines)
    assert all(len(row) == 4 and row[2] and row[3].endswith(".") for row in rows)


def test_the_layers_of_the_page_are_those_that_are_checked() -> None:
    """The table of layers names the layers of the import contract, lowest first."""
    layers = PYPROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    rows = table_rows((ROOT / "docs/architecture.md").read_text(encoding="utf-8"), "## Layers")
    shown = [set(re.findall(r"`([\w.]+)`", row[0])) for row in rows]
    assert shown == [set(re.split(r" \| ", layer)) for layer in reversed(layers)]


def test_every_decision_is_in_the_index_under_its_title() -> None:
    """The index lists each page of the folder once, by number, with the title the page has."""
    folder = ROOT / "docs/adr"
    rows = table_rows((folder / "README.md").read_text(encoding="utf-8"), "## Index")
    pages = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    titles = [page.read_text(encoding="utf-8").partition("\n")[0] for page in pages]
    assert [f"# {number}. {link[1 : link.index('](')]}" for number, link in rows] == titles
    assert [links(link) for _, link in rows] == [[page.name] for page in pages]


def test_the_changelog_has_a_place_for_the_next_change() -> None:
    """Unreleased changes come first, in the groups of Keep a Changelog."""
    headings = re.findall(r"^##+ (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    groups = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert all(heading in groups or heading.startswith("[") for heading in headings)


def test_every_make_target_says_what_it_does() -> None:
    """`make` alone lists all targets, each with a sentence."""
    helped = re.findall(r"^([a-z-]+):.*## \S", MAKEFILE, re.MULTILINE)
    assert set(helped) == TARGETS
    assert len(helped) == len(TARGETS)


@pytest.mark.parametrize("path", written_pages())
def test_every_make_target_of_a_page_exists(path: str) -> None:
    """`make x` in a page names targets of the Makefile."""
    text = written_pages()[path]
    shell = [*blocks(text, "sh"), *code_spans(text)]
    named = {target for part in shell for match in MAKE.findall(part) for target in match.split()}
    assert named <= TARGETS


@pytest.mark.parametrize("path", written_pages())
def test_every_setting_of_a_page_exists(path: str) -> None:
    """Keys (`table.key`) and variables (HIVEKEEP_X) in a page are settings of the contract, if not its other names."""
    text = written_pages()[path]
    keys = {
        span.partition(" ")[0]
        for span in code_spans(text)
        if re.fullmatch(r"[a-z_]+\.[a-z_]+( = .+)?", span) and span.partition(".")[0] in SETTING_TABLES
    }
    assert keys <= KEYS | VERBS.keys() | set(ENUMS["gateway.event_type"])
    assert set(re.findall(r"\bHIVEKEEP_[A-Z_]+\b", text)) <= VARIABLES


@pytest.mark.parametrize("path", written_pages())
def test_every_command_and_option_of_a_page_exists(path: str) -> None:
    """`hivekeep x --y` in code names a command of the program and an option that it takes."""
    text = written_pages()[path]
    code = [*blocks(text, "sh"), *blocks(text, "console"), *code_spans(text)]
    for part in code:
        for words in re.findall(r"(?:^\$ |^)hivekeep ([a-z-].*)$", part, re.MULTILINE):
            assert_known(words.partition("'")[0].split())


def assert_known(words: list[str]) -> None:
    """Assert that the first words are a command, and the options among the rest are options of it."""
    command: Any = root
    while words and isinstance(command, click.Group) and not words[0].startswith("-"):
        command = command.get_command(click.Context(command), words.pop(0))
        assert command is not None, words
    options = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
    assert {word for word in words if word.startswith("--")} <= options, words


@pytest.mark.parametrize("path", ["README.md", "CHANGELOG.md"])
def test_the_verbs_are_all_named(path: str) -> None:
    """A page that lists the verbs lists all of them, and counts them right."""
    text = written_pages()[path]
    assert {name for name, verb in VERBS.items() if not verb.internal} <= set(code_spans(text))
    assert f"{len(VERBS)} verbs" in text


def test_the_steps_of_a_task_are_those_of_the_registry() -> None:
    """The table of the guide names each status that leads somewhere, with where it leads."""
    rows = table_rows((ROOT / "docs/guides/tasks.md").read_text(encoding="utf-8"), "### The table of steps")
    shown = {start.strip("`"): tuple(re.findall(r"`(\w+)`", ends)) for start, ends in rows}
    assert shown == {start: ends for start, ends in TRANSITIONS["gtd.status"].items() if ends}
