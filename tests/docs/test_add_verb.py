"""The steps that AGENTS.md gives for adding a verb, carried out on a copy of the registry."""

import shutil
import textwrap
from pathlib import Path

import pytest

from support.pages import ROOT, blocks
from tools.generate.build import build
from tools.generate.problems import ContractError
from tools.new_verb import new_verb

# The blocks of a numbered list are indented.
PAGE = textwrap.dedent((ROOT / "AGENTS.md").read_text(encoding="utf-8").replace("\n   ", "\n"))
FILE = "registry/packs/kg/count_kind.yaml"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the registry, and the skeleton that step 1 writes."""
    shutil.copytree(ROOT / "registry", tmp_path / "registry")
    new_verb(tmp_path, "kg", "count_kind")
    return tmp_path


def test_the_skeleton_is_refused_as_the_page_shows(copy: Path) -> None:
    """The line that the page shows is the first of those the generator prints."""
    (shown,) = [block for block in blocks(PAGE, "text") if block.startswith(FILE)]
    with pytest.raises(ContractError) as refused:
        build(copy)
    assert str(refused.value).splitlines()[0] == shown.strip()


def test_the_contract_of_the_page_asks_for_the_method_of_the_page(copy: Path) -> None:
    """The generator takes the YAML of step 2 and prints the names that the code of step 4 uses."""
    (contract,) = blocks(PAGE, "yaml")
    (method,) = blocks(PAGE, "python")
    (copy / FILE).write_text(contract, encoding="utf-8")
    files = build(copy)
    assert "def count_kind(self, ctx: CtxT, args: CountKindArgs, /) -> CountKindResult" in files["handlers/kg.py"]
    assert method.startswith("def count_kind(ctx: Context, args: models.CountKindArgs) -> models.CountKindResult:")
    assert "class CountKindResult(TypedDict)" in files["models/kg.py"]
    assert 'Route("count_kind", "/api/v1/verbs/count_kind", "POST", "token", "verb")' in files["routes.py"]
