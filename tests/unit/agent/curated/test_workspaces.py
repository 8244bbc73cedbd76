"""Which workspace a folder belongs to."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent.curated import checkouts, workspaces
from hivekeep.agent.curated.checkouts import remote_key
from hivekeep.agent.curated.desk import Desk
from hivekeep.agent.curated.files import NotRegular
from hivekeep.storage import agent_workspaces
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway_errors import Conflict, SecurityRejection, ValidationError

URL = "https://example.org/team/tool.git"
FULL = {"schemaVersion": 1, "repositoryId": "repo-7", "workspace": "team"}


def repository(folder: Path, *, url: str | None = None, remote: str = "origin") -> Path:
    """A folder that git would take for a repository."""
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    section = "" if url is None else f'[remote "{remote}"]\n\turl = {url}\n\tfetch = +refs/heads/*\n'
    (git / "config").write_text(f"[core]\n\tbare = false\n{section}")
    return folder


def worktree(main: Path, folder: Path) -> Path:
    """A worktree of a repository, as git lays it out."""
    place = main / ".git" / "worktrees" / folder.name
    place.mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/side\n")
    (place / "commondir").write_text("../..\n")
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {place}\n")
    return folder


def project(folder: Path, name: str = ".hivekeep.json", **fields: Any) -> Path:
    """A folder with a project file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({**FULL, **fields}))
    return folder


def found(tx: Tx, folder: Path) -> tuple[str, str, str, bool]:
    """Workspace, repository id, reason, whether it is known."""
    return workspaces.resolve(tx, workspaces.look(folder))[:4]


def remember(tx: Tx, folder: Path, workspace: str | None = None) -> None:
    """Note the repository of a folder, as belonging to a workspace if one is given."""
    resolved = workspaces.resolve(tx, workspaces.look(folder))
    workspaces.remember(tx, resolved if workspace is None else resolved._replace(workspace=workspace), 1_000)


def local_id(path: Path) -> str:
    """The id of a repository that is known by its folder alone."""
    return "repo_local_" + hashlib.sha256(str(path).encode()).hexdigest()[:12]


def test_a_folder_without_anything_is_known_by_its_path(tx: Tx, tmp_path: Path) -> None:
    """Twelve digits of its hash; a folder in it is another one."""
    assert found(tx, tmp_path) == (local_id(tmp_path), local_id(tmp_path), "local", False)
    (tmp_path / "inner").mkdir()
    assert found(tx, tmp_path / "inner")[0] == local_id(tmp_path / "inner")


def test_every_folder_of_a_checkout_and_every_worktree_is_one_repository(tx: Tx, tmp_path: Path) -> None:
    """Known by the folder that git shares among them."""
    main = repository(tmp_path / "main")
    side = worktree(main, tmp_path / "side")
    (side / "deep" / "down").mkdir(parents=True)
    expected = local_id(main / ".git")
    assert {found(tx, folder)[1] for folder in (main, side, side / "deep" / "down")} == {expected}


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git to ask")
def test_git_says_the_same_of_a_worktree_and_a_submodule(tmp_path: Path) -> None:
    """The common folder of each is what git names."""

    def git(folder: Path, *arguments: str) -> str:
        names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
        done = subprocess.run(["git", *names, *arguments], cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    for name in ("main", "part"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init", "-q")
        git(tmp_path / name, "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path / "main", "worktree", "add", "-q", str(tmp_path / "side"))
    git(tmp_path / "main", "submodule", "--quiet", "add", str(tmp_path / "part"), "part")
    for folder in (tmp_path / "main", tmp_path / "side", tmp_path / "main" / "part"):
        checkout = checkouts.find(folder)
        assert checkout is not None
        told = git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel")
        assert [str(checkout.common), str(checkout.top)] == told.splitlines()


def test_clones_of_one_remote_are_one_repository(tx: Tx, tmp_path: Path) -> None:
    """However its address is spelt, before and after one of them is remembered."""
    first = repository(tmp_path / "first", url=URL)
    second = repository(tmp_path / "second", url="git@EXAMPLE.org:team/tool")
    expected = "repo_git_" + hashlib.sha256(b"example.org/team/tool").hexdigest()[:12]
    assert found(tx, first) == found(tx, second) == (expected, expected, "remote", False)
    remember(tx, first, "tools")
    assert found(tx, first) == ("tools", expected, "place", True)
    assert found(tx, second) == ("tools", expected, "remote", True)


def test_a_place_is_remembered_when_the_remote_changes(tx: Tx, tmp_path: Path) -> None:
    """A known folder comes before its remote."""
    folder = repository(tmp_path / "first", url=URL)
    remember(tx, folder)
    before = found(tx, folder)[1]
    (folder / ".git" / "config").write_text('[remote "origin"]\n\turl = https://example.org/other/name\n')
    assert found(tx, folder) == (before, before, "place", True)


def test_one_remote_stays_with_one_repository(tx: Tx, tmp_path: Path) -> None:
    """A second repository of another id may have the same remote; the first one keeps it."""
    remember(tx, repository(tmp_path / "first", url=URL))
    second = project(repository(tmp_path / "second", url=URL))
    remember(tx, second)
    assert found(tx, repository(tmp_path / "third", url=URL))[1].startswith("repo_git_")
    assert agent_workspaces.is_project(tx, "team")
    assert not agent_workspaces.is_project(tx, "elsewhere")


def test_the_project_file_comes_first(tx: Tx, tmp_path: Path) -> None:
    """The nearest one between the folder and the top of its checkout; ours before the other name."""
    main = project(repository(tmp_path / "main", url=URL))
    inner = project(main / "inner", ".kiokuko.json", workspace="inner", agentFile="AGENTS.md", templateVersion=3)
    assert found(tx, main) == ("team", "repo-7", "project_file", False)
    assert found(tx, inner) == ("inner", "repo-7", "project_file", False)
    project(inner, workspace="ours")
    assert found(tx, inner)[0] == "ours"
    remember(tx, main)
    assert found(tx, main) == ("team", "repo-7", "project_file", True)


def test_a_project_file_above_the_checkout_does_not_count(tx: Tx, tmp_path: Path) -> None:
    """Nor one above a folder that is in none."""
    project(tmp_path)
    repository(tmp_path / "main")
    (tmp_path / "plain").mkdir()
    assert [found(tx, tmp_path / name)[2] for name in (".", "main", "plain")] == ["project_file", "local", "local"]


@pytest.mark.parametrize(
    ("text", "reason", "field"),
    [
        ("{", "not_json", None),
        ("[]", "wrong_type", None),
        (json.dumps({**FULL, "schemaVersion": 2}), "wrong_value", "/schemaVersion"),
        (json.dumps({**FULL, "schemaVersion": True}), "wrong_value", "/schemaVersion"),
        (json.dumps({**FULL, "more": 1}), "unknown_field", None),
        (json.dumps({**FULL, "workspace": " "}), "wrong_value", "/workspace"),
        (json.dumps({**FULL, "repositoryId": 7}), "wrong_type", "/repositoryId"),
        (json.dumps({"schemaVersion": 1, "workspace": "team"}), "missing_field", "/repositoryId"),
        (json.dumps({**FULL, "agentFile": "x" * 70_000}), "too_large", None),
    ],
)
def test_a_malformed_project_file_is_refused(tmp_path: Path, text: str, reason: str, field: str | None) -> None:
    """It is not passed over: the workspace that it means would be another one."""
    (tmp_path / ".hivekeep.json").write_text(text)
    with pytest.raises(ValidationError) as why:
        workspaces.look(tmp_path)
    assert (why.value.reason, why.value.field) == (reason, field)


@pytest.mark.parametrize("fields", [{"workspace": "global"}, {"repositoryId": "hivekeep_global"}])
def test_no_repository_takes_the_global_workspace(tx: Tx, tmp_path: Path, fields: dict[str, str]) -> None:
    """Neither by its name nor by the id behind it."""
    with pytest.raises(Conflict):
        remember(tx, project(tmp_path, **fields))


SAME = [
    "https://example.org/team/tool.git",
    "https://ada:pw@example.org/team/tool",
    "http://EXAMPLE.org:8080/team/tool/",
    "ssh://git@example.org:22/team/tool.git",
    "git@example.org:team/tool.git",
    "git://example.org/team/tool.git/",
]


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    """Opening a pipe waits for somebody who writes: a fetched folder could stop every command in it for good."""
    for name, folder in (("config", repository(tmp_path / "a") / ".git"), (".git", tmp_path)):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    assert workspaces.look(tmp_path / "a").checkout == (tmp_path / "a", tmp_path / "a" / ".git", None)
    assert workspaces.look(tmp_path).checkout is None
    os.mkfifo(tmp_path / ".hivekeep.json")
    with pytest.raises(NotRegular):
        workspaces.look(tmp_path)


def test_a_folder_in_the_place_of_a_project_file_is_named(tmp_path: Path) -> None:
    """The refusal says which path it is about."""
    (tmp_path / ".hivekeep.json").mkdir()
    with pytest.raises(NotRegular) as refused:
        workspaces.look(tmp_path)
    assert refused.value.filename == str(tmp_path / ".hivekeep.json")


@pytest.mark.parametrize("name", ["workspace", "repositoryId", "agentFile"])
def test_a_project_file_names_no_credential(tmp_path: Path, name: str) -> None:
    """Only a workspace that was given by name was looked at: one of the file was stored."""
    with pytest.raises(SecurityRejection) as refused:
        workspaces.look(project(tmp_path, **{name: "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}))
    assert refused.value.field == f"/{name}"


def test_a_project_file_says_everything_once(tmp_path: Path) -> None:
    """Of a key that stood twice the last one counted, so a person and the program could read two workspaces."""
    text = json.dumps(FULL)
    (tmp_path / ".hivekeep.json").write_text(text[:-1] + ', "workspace": "theirs"}')
    with pytest.raises(ValidationError) as refused:
        workspaces.look(tmp_path)
    assert refused.value.reason == "not_json"


def test_a_project_file_of_elsewhere_moves_no_known_repository(tx: Tx, tmp_path: Path) -> None:
    """It named the id of a repository with another workspace, and from then on that repository belonged there.

    A checkout of the same remote may, and a folder of a repository without a remote.
    """
    remember(tx, project(repository(tmp_path / "ours", url=URL)))
    fetched = project(repository(tmp_path / "fetched", url="https://example.org/x/y.git"), workspace="theirs")
    for place in (fetched, project(tmp_path / "plain", workspace="theirs")):
        with pytest.raises(Conflict) as refused:
            remember(tx, place)
        assert refused.value.reason == "other_workspace"
    assert found(tx, tmp_path / "ours")[:2] == ("team", "repo-7")
    remember(tx, project(repository(tmp_path / "clone", url=URL), workspace="renamed"))
    known = agent_workspaces.by_id(tx, "repo-7")
    assert known is not None
    assert known.workspace == "renamed"
    local = project(tmp_path / "local", repositoryId="repo-8")
    remember(tx, local)
    remember(tx, project(local, repositoryId="repo-8", workspace="other"))
    assert found(tx, local) == ("other", "repo-8", "project_file", True)


def test_spellings_of_one_address_have_one_fingerprint() -> None:
    """Protocol, user, port, case of the host and ending are spelling; the path is not."""
    assert {remote_key(url) for url in SAME} == {hashlib.sha256(b"example.org/team/tool").hexdigest()}
    assert remote_key("https://example.org/Team/tool") != remote_key(URL)
    assert remote_key("https://example.com/team/tool") != remote_key(URL)


@pytest.mark.parametrize("url", ["/srv/git/tool.git", "../tool", "file:///srv/tool", "", "tool"])
def test_a_folder_is_no_remote(url: str) -> None:
    """Two machines may have different ones of one name."""
    assert remote_key(url) is None


def test_origin_comes_before_other_remotes(tmp_path: Path) -> None:
    """Without it the first by name; sections of other kinds, comments and pushurl are none."""
    folder = repository(tmp_path)
    config = folder / ".git" / "config"
    others = '[remote "b"]\n\turl = https://b.example/x\n[remote "a"]\n\tpushurl = https://p.example/x\n'
    config.write_text(f'{others}\turl = https://a.example/x\n[branch "main"]\n\turl = https://no.example/x\n')
    assert _key(folder) == remote_key("https://a.example/x")
    config.write_text(config.read_text() + f'[remote "origin"]\n\turl = "{URL}"\n')
    assert _key(folder) == remote_key(URL)


def _key(folder: Path) -> str | None:
    checkout = checkouts.find(folder)
    assert checkout is not None
    return checkout.remote_key


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=60))
def test_any_address_has_a_fingerprint_or_none(url: str) -> None:
    """Nothing raises."""
    key = remote_key(url)
    assert key is None or len(key) == 64


def test_recording_remembers_the_repository_of_the_folder(desk: Desk, tmp_path: Path) -> None:
    """Resolving alone does not; a named workspace is nobody's repository."""
    repository(desk.folder, url=URL)
    assert desk.workspace()["known"] is False
    desk.record("named", {"kind": "fact", "title": "T", "body": ""})
    assert desk.workspace()["known"] is False
    stored = desk.record(None, {"kind": "fact", "title": "T", "body": ""})
    told = desk.workspace()
    assert (told["workspace"], told["reason"], told["known"]) == (stored["entry"]["workspace"], "place", True)


def test_a_repository_is_bound_to_a_workspace_of_any_name(desk: Desk, tmp_path: Path) -> None:
    """All its worktrees and clones go along."""
    repository(desk.folder, url=URL)
    told = desk.bind("the team's notes")
    assert (told["workspace"], told["reason"], told["known"]) == ("the team's notes", "place", True)
    clone = repository(tmp_path / "clone", url=URL)
    assert desk.workspace(clone)["workspace"] == "the team's notes"
    assert desk.workspace(worktree(clone, tmp_path / "side"))["workspace"] == "the team's notes"


def test_what_a_repository_cannot_be_bound_to(desk: Desk) -> None:
    """The global workspace, a name with control characters, a credential; any, where a project file names one."""
    with pytest.raises(Conflict):
        desk.bind("global")
    with pytest.raises(ValidationError):
        desk.bind("a\nb")
    with pytest.raises(SecurityRejection):
        desk.bind("ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    project(desk.folder)
    with pytest.raises(Conflict):
        desk.bind("mine")
