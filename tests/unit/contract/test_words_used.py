"""Every word that the registry gives the gateway is one that something goes by; what nothing reads is no promise."""

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from hivekeep_contract.gateway_errors import FAILURES, REASONS
from tools.generate.build import HOME
from tools.generate.read import read_file

GATEWAY = [read_file(path, path.name).data for path in sorted((HOME / "registry" / "gateway").glob("*.yaml"))]
TYPES = read_file(HOME / "registry" / "types.yaml", "types.yaml").data


APART = {"packs", "query"}
"""Parts of the program that know nothing of the gateway."""


@cache
def nodes() -> list[ast.AST]:
    """Every node of the modules of the program."""
    paths = (path for path in sorted((HOME / "runtime").rglob("*.py")) if not APART & set(path.parts))
    return [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


@cache
def imported() -> set[str]:
    """What the program imports from the contract, by its own name."""
    return {
        alias.name
        for node in nodes()
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("hivekeep_contract")
        for alias in node.names
    }


@cache
def typed() -> set[str]:
    """Every string that a module of the program holds."""
    return {node.value for node in nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def values(data: Any) -> Iterator[str]:
    """The texts that a contract has as values. A key names something, and documentation only speaks of it."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key != "doc":
                yield from values(value)
    elif isinstance(data, list):
        for value in data:
            yield from values(value)
    elif isinstance(data, str):
        yield data


REFERRED = {word for data in (*GATEWAY, TYPES) for word in values(data)}


def named(section: str) -> set[str]:
    """The names that the files of the gateway give in one of their sections."""
    return {name for data in GATEWAY for name in data.get(section, {})}


@pytest.mark.parametrize("section", ["constants", "tables"])
def test_the_program_imports_it_or_a_field_goes_by_it(section: str) -> None:
    """A constant may be the limit of a field, a table the part of an enum that a field takes."""
    names = named(section)
    assert len(names) > 20
    assert sorted(name for name in names if name.upper() not in imported() and name not in REFERRED) == []


@pytest.mark.parametrize("section", ["enums", "shapes"])
def test_a_field_has_it_or_the_program_asks_for_it(section: str) -> None:
    """An enum that no field has is looked up by its name; the reasons are the words of every failure."""
    names = named(section) - {"reason"}
    assert len(names) > 20
    assert sorted(name for name in names if name not in REFERRED and f"gateway.{name}" not in typed()) == []


def test_every_reason_is_given_and_every_failure_raised() -> None:
    """The program writes the word out, and imports the class."""
    assert sorted(set(REASONS) - typed()) == []
    assert sorted(failure.__name__ for failure in FAILURES.values() if failure.__name__ not in imported()) == []


def test_a_name_and_documentation_are_no_use() -> None:
    """What only defines a word, or speaks of it, would be found."""
    data = {"constants": {"lonely": {"value": 1, "doc": "lonely"}}, "limits": {"max": "used"}, "only": ["narrow"]}
    assert list(values(data)) == ["used", "narrow"]
