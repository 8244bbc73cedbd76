"""Paths and header names stand in the registry and in what is printed from it, nowhere else in the program."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivekeep_contract import gateway, routes
from tools.generate.build import HOME

SOURCES = sorted(path for folder in ("runtime", "tools") for path in (HOME / folder).rglob("*.py"))
TEMPLATES = sorted(path for path in (HOME / "templates").rglob("*.j2"))
# Every path begins with the root, so typing that one proves nothing.
PATHS = {route.path.partition("{")[0] for route in routes.ROUTES.values()} - {"/"} | {routes.GATEWAY_PREFIX}
HEADERS = {routes.ACTOR_HEADER, routes.NAMESPACE_HEADER, routes.SESSION_HEADER}
HEADERS |= {gateway.KEY_HEADER, gateway.RETRY_HEADER}


def strings(tree: ast.Module) -> Iterator[str]:
    """Every string of a module that is not a statement of its own, as a docstring is."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def typed(text: str) -> list[str]:
    """The paths that a text begins with and the headers that it names."""
    return [path for path in PATHS if text.startswith(path)] + [name for name in HEADERS if name in text]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(HOME).as_posix())
def test_no_module_types_a_path_or_a_header(path: Path) -> None:
    """The door and the generator take them from the contract."""
    found = [text for text in strings(ast.parse(path.read_text(encoding="utf-8"))) if typed(text)]
    assert found == []


def test_no_template_types_a_path_or_a_header() -> None:
    """Pages name the paths of the registry that they are printed from."""
    words = [word.strip("`(),.;:") for path in TEMPLATES for word in path.read_text(encoding="utf-8").split()]
    assert [word for word in words if typed(word)] == []


def test_a_typed_path_would_be_found() -> None:
    """In any string but a docstring, and as the constant part of a formatted one."""
    code = 'def f(x):\n    """/docs"""\n    return f"/api/v1/verbs/{x}", {"h": "Hivekeep-Actor"}, "docs/index.html"\n'
    assert [text for text in strings(ast.parse(code)) if typed(text)] == ["/api/v1/verbs/", "Hivekeep-Actor"]
