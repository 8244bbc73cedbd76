"""Which workspace a folder belongs to, and why.

Invariant: the same answer for every worktree of a repository and every clone of its remote. Looked at in this order:
the project file, a folder that is known, the remote, the folder itself (gateway rules, workspaces). Resolving writes
nothing; who records something there has the repository remembered.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final, NamedTuple

from hivekeep import strict_json
from hivekeep.agent.curated import checkouts, checks, files, secrecy
from hivekeep.agent.curated.checkouts import Checkout
from hivekeep.storage import agent_workspaces
from hivekeep.storage.agent_workspaces import RepositoryRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import PROJECT_FIELDS, PROJECT_FILES
from hivekeep_contract.gateway_errors import Conflict, ValidationError
from hivekeep_contract.limits import (
    GLOBAL_REPOSITORY,
    GLOBAL_WORKSPACE,
    LOCAL_REPOSITORY_PREFIX,
    PROJECT_FILE_MAX_BYTES,
    PROJECT_FILE_VERSION,
    REMOTE_REPOSITORY_PREFIX,
    REPOSITORY_DIGITS,
)

_VERSION: Final = "schemaVersion"


class Project(NamedTuple):
    """What a project file says, and which file that is."""

    repository_id: str
    workspace: str
    file: Path


class Place(NamedTuple):
    """What was found of a folder without the store: its root, its checkout and project file, if it has them.

    `key` stands for the folder that all worktrees share; without version control, for the folder itself.
    """

    root: Path
    key: str
    checkout: Checkout | None
    project: Project | None


class Resolved(NamedTuple):
    """The workspace of a folder. `reason` is a key of `WORKSPACE_REASONS`; `known` says that the store remembers it."""

    workspace: str
    repository_id: str
    reason: str
    known: bool
    place: Place


def look(folder: Path) -> Place:
    """What the files round a folder say.

    A project file counts at the top of the checkout or anywhere between it and the folder, the nearest first. Raises
    ValidationError for a malformed one, SecurityRejection for one that names a credential, and OSError.
    """
    here = folder.resolve()
    checkout = checkouts.find(here)
    root = here if checkout is None else checkout.top
    between = [here, *here.parents]
    project = _nearest_project(between[: between.index(root) + 1])
    key = here if checkout is None else checkout.common
    if project is not None and checkout is None:
        root = project.file.parent
    return Place(root, str(key), checkout, project)


def resolve(tx: Tx, place: Place) -> Resolved:
    """The workspace of a folder that was looked at."""
    if place.project is not None:
        project = place.project
        known = agent_workspaces.by_id(tx, project.repository_id)
        is_known = known is not None and known.workspace == project.workspace
        return Resolved(project.workspace, project.repository_id, "project_file", is_known, place)
    found = agent_workspaces.by_place(tx, place.key)
    if found is not None:
        return Resolved(found.workspace, found.id, "place", True, place)
    remote = _remote(place)
    if remote is not None:
        found = agent_workspaces.by_remote(tx, remote)
        repository_id = REMOTE_REPOSITORY_PREFIX + remote[:REPOSITORY_DIGITS] if found is None else found.id
        workspace = repository_id if found is None else found.workspace
        return Resolved(workspace, repository_id, "remote", found is not None, place)
    digest = hashlib.sha256(place.key.encode("utf-8", "surrogateescape")).hexdigest()
    repository_id = LOCAL_REPOSITORY_PREFIX + digest[:REPOSITORY_DIGITS]
    return Resolved(repository_id, repository_id, "local", False, place)


def remember(tx: Tx, found: Resolved, now_us: int) -> None:
    """Note the repository of a folder and that the folder is a checkout of it.

    Raises Conflict when a project file calls its repository by the id of the global workspace, or would move one that
    it does not belong to.
    """
    if found.repository_id == GLOBAL_REPOSITORY or found.workspace == GLOBAL_WORKSPACE:
        raise Conflict("other_workspace")
    known = agent_workspaces.by_id(tx, found.repository_id)
    if known is not None and not _may_change(tx, known, found):
        raise Conflict("other_workspace")
    remote = _remote(found.place)
    if remote is not None and agent_workspaces.by_remote(tx, remote) is not None:
        # Another repository of this remote is known: one remote belongs to one.
        remote = None
    if known is None:
        row = RepositoryRow(found.repository_id, found.workspace, remote, now_us)
        agent_workspaces.insert(tx, row)
    else:
        agent_workspaces.change(tx, found.repository_id, found.workspace, remote)
    agent_workspaces.put_place(tx, found.place.key, found.repository_id, now_us)


def _may_change(tx: Tx, known: RepositoryRow, found: Resolved) -> bool:
    """Whether a folder may say what it says of a known repository.

    A project file comes with what was fetched from anywhere. Only one in a checkout of the repository's own remote, or
    of a repository without one in a folder that is known to be its checkout, takes it to another workspace.
    """
    if found.reason != "project_file" or known.workspace == found.workspace:
        return True
    if known.remote_key is not None:
        return known.remote_key == _remote(found.place)
    return agent_workspaces.by_place(tx, found.place.key) == known


def _remote(place: Place) -> str | None:
    return None if place.checkout is None else place.checkout.remote_key


def _nearest_project(folders: list[Path]) -> Project | None:
    for folder in folders:
        for name in PROJECT_FILES:
            project = _project(folder / name)
            if project is not None:
                return project
    return None


def _project(file: Path) -> Project | None:
    try:
        data = files.read(file, PROJECT_FILE_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    given = _fields(data)
    if given[_VERSION] != PROJECT_FILE_VERSION or isinstance(given[_VERSION], bool):
        raise ValidationError("wrong_value", field=f"/{_VERSION}")
    for name in PROJECT_FIELDS:
        if name not in (_VERSION, "templateVersion") and name in given:
            checks.identifier(given[name], f"/{name}")
    secrecy.refuse((f"/{name}", value) for name, value in given.items())
    return Project(given["repositoryId"], given["workspace"], file)


def _fields(data: bytes) -> dict[str, Any]:
    if len(data) > PROJECT_FILE_MAX_BYTES:
        raise ValidationError("too_large")
    try:
        given = strict_json.decode_unique(data.decode("utf-8-sig"))
    except ValueError:
        raise ValidationError("not_json") from None
    checks.members(given, "", PROJECT_FIELDS)
    checks.required(given, "", [name for name, needed in PROJECT_FIELDS.items() if needed])
    fields: dict[str, Any] = given
    return fields
