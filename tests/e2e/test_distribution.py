"""What is published works: the source archive is complete, and the wheel made from it runs."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from hivekeep import build
from hivekeep.storage import migrations
from hivekeep_contract.gateway import SKILLS_SHIPPED
from hivekeep_contract.routes import ROUTES
from support.pages import ROOT, links
from tools.build_hook import revision

pytestmark = pytest.mark.slow
"""The build takes 2 seconds, the installation 2 more."""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source archive of this checkout and the wheel built from that archive."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def stamp() -> str:
    """The revision that a build of this checkout carries; an unpacked source archive hands its own on."""
    return revision(ROOT) or build.revision()


def test_the_wheel_holds_what_the_program_reads(dist: Path) -> None:
    """Both packages with types, pages, migrations, Skills, the vocabulary and its notice, the license, the stamp."""
    (path,) = dist.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        stamped = json.loads(wheel.read("hivekeep/_build.json")) if "hivekeep/_build.json" in names else {}
    pages = {f"hivekeep_contract/{route.file}" for route in ROUTES.values() if route.serves == "page"}
    sql = {f"hivekeep/storage/migrations/{file.name}" for file in Path(migrations.__file__).parent.glob("*.sql")}
    words = {f"hivekeep/search/embedders/{name}" for name in ("bert-uncased-vocab.txt", "NOTICE")}
    skills = {f"hivekeep/skills/{name}/SKILL.md" for name in SKILLS_SHIPPED}
    typed = {"hivekeep/py.typed", "hivekeep_contract/py.typed", "hivekeep_contract/schemas.json"}
    assert len(sql) >= 1
    assert pages | sql | words | skills | typed <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    packages = {PurePosixPath(name).parts[0] for name in names}
    assert {name for name in packages if not name.endswith(".dist-info")} == {"hivekeep", "hivekeep_contract"}
    assert stamped.get("revision", build.UNSTAMPED) == stamp()


def test_the_installed_wheel_runs(dist: Path, tmp_path: Path) -> None:
    """Away from the checkout the program imports itself from the wheel, makes a store, writes and reads."""
    (wheel,) = dist.glob("*.whl")
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site)]
    subprocess.run([*install, "--disable-pip-version-check", str(wheel)], check=True, capture_output=True)
    program = (
        "import hivekeep, hivekeep_contract, runpy, sys\n"
        "print(hivekeep.__file__, hivekeep_contract.__file__, file=sys.stderr)\n"
        "sys.argv = ['hivekeep', 'exec', 'create(kind=\"concept\", name=\"A\") | get(id=$prev.id)']\n"
        "runpy.run_module('hivekeep', run_name='__main__')\n"
    )
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(site)}
    variables |= {"HIVEKEEP_DB": str(tmp_path / "hive.db"), "HIVEKEEP_STORAGE_DISK_RESERVE_BYTES": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=variables, capture_output=True, text=True, check=True
    )
    assert done.stderr.split() == [str(site / name / "__init__.py") for name in ("hivekeep", "hivekeep_contract")]
    answer = json.loads(done.stdout)
    assert [entry["result"]["name"] for entry in answer["results"]] == ["A", "A"]


def test_the_source_archive_has_what_its_pages_link_to(dist: Path, tmp_path: Path) -> None:
    """Every link of the README and of AGENTS.md leads to a file of the archive, and what CI runs is in it."""
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    (root,) = tmp_path.iterdir()
    for page in ("README.md", "AGENTS.md"):
        targets = [target.partition("#")[0] for target in links((root / page).read_text(encoding="utf-8"))]
        inside = [target for target in targets if target and not target.startswith("https://")]
        assert inside
        assert [target for target in inside if not (root / target).exists()] == []
    assert (root / ".ci" / "run").read_bytes() == (ROOT / ".ci" / "run").read_bytes()
    assert (root / "registry" / "http.yaml").read_bytes() == (ROOT / "registry" / "http.yaml").read_bytes()
