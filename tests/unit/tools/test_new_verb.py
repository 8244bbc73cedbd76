"""`make new-verb` leaves a contract that says itself what is still missing."""

import shutil
from pathlib import Path

import pytest

from tools import new_verb
from tools.generate import __main__ as generate

SMALL = Path(__file__).parents[2] / "golden" / "small"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The golden registry, free to be changed."""
    shutil.copytree(SMALL / "registry", tmp_path / "registry")
    return tmp_path


def test_it_writes_the_contract_and_says_where_the_method_goes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A verb of a pack with prefix; a name that hides a builtin gets the method name the protocol will have."""
    assert new_verb.main(["todo", "open", "--root", str(root)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("wrote registry/packs/todo/open.yaml\n")
    assert "runtime/hivekeep/packs/todo/ that keeps TodoHandlers" in told
    assert "def open_(self, ctx: Ctx, args: OpenArgs) -> OpenResult" in told
    text = (root / "registry" / "packs" / "todo" / "open.yaml").read_text(encoding="utf-8")
    assert "call: 'todo.open(id=\"...\")'" in text


def test_the_generator_names_every_gap_of_the_skeleton(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing but the empty texts is wrong with it, and each is named by its line."""
    assert new_verb.main(["base", "archive", "--root", str(root)]) == 0
    capsys.readouterr()
    assert generate.main(["--root", str(root)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "registry/packs/base/archive.yaml:1: summary: is empty; fill it in",
        "registry/packs/base/archive.yaml:6: params.id.doc: is empty; fill it in",
        "registry/packs/base/archive.yaml:10: returns.fields.id.doc: is empty; fill it in",
        "registry/packs/base/archive.yaml:13: examples.0.name: is empty; fill it in",
        "registry/packs/base/archive.yaml:16: examples.1.name: is empty; fill it in",
    ]


def test_a_filled_skeleton_is_a_valid_contract(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its texts filled in, the verb is in the catalog, the protocol and the routes."""
    assert new_verb.main(["base", "archive", "--root", str(root)]) == 0
    path = root / "registry" / "packs" / "base" / "archive.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    filled = [line.replace("''", f"Text {number}.") for number, line in enumerate(lines)]
    path.write_text("\n".join(filled) + "\n", encoding="utf-8")
    assert generate.main(["--root", str(root)]) == 0, capsys.readouterr().err
    package = root / "generated" / "hivekeep_contract"
    assert 'Route("archive", "/small/verbs/archive", "POST", "token", "verb")' in (package / "routes.py").read_text(
        encoding="utf-8"
    )
    handlers = (package / "handlers" / "base.py").read_text(encoding="utf-8")
    assert "def archive(self, ctx: CtxT, args: ArchiveArgs, /) -> ArchiveResult:" in handlers


@pytest.mark.parametrize(
    ("pack", "verb", "says"),
    [
        (
            "bas",
            "x",
            "there is no pack 'bas'; did you mean 'base'?; a new pack begins with registry/packs/bas/_pack.yaml",
        ),
        ("base", "Archive", "'Archive' is no verb name: small letters, digits and underscores, a letter first"),
        ("base", "keep", "registry/packs/base/keep.yaml exists already"),
    ],
)
def test_it_refuses_and_writes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str], pack: str, verb: str, says: str
) -> None:
    """An unknown pack, a name that is none, and a verb that exists are told apart; no file changes."""
    before = {path: path.read_bytes() for path in (root / "registry").rglob("*.yaml")}
    assert new_verb.main([pack, verb, "--root", str(root)]) == 1
    assert capsys.readouterr().err == f"{says}\n"
    assert {path: path.read_bytes() for path in (root / "registry").rglob("*.yaml")} == before
