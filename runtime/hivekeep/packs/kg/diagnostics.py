"""db_diagnostics: every open database file, seen by the process that serves it.

Invariant: a file that cannot be inspected says so in its own entry and does not keep the others from reporting.
"""

import os
from typing import cast

from hivekeep import __version__, build, process
from hivekeep.packs.context import MAIN, Context
from hivekeep.storage.engine import Engine
from hivekeep.storage.vectors import NOTE_ROUTES
from hivekeep_contract.errors import HivekeepError
from hivekeep_contract.models import kg as models

POOL_GENERATION = 1
"""The main pool is made once in a process and never again."""


def db_diagnostics(ctx: Context, args: models.DbDiagnosticsArgs) -> models.DbDiagnosticsResult:
    """The report; without a report of the main file only the list of files, whose first entry says why."""
    files = [_file(names, engine) for names, engine in _files(ctx)]
    main = files[0]["diagnostics"]
    if main is None:
        return {"databases": files}
    return {**main, "databases": files}


def _files(ctx: Context) -> list[tuple[list[str], Engine]]:
    """The distinct files, main first, with the backends that share each."""
    by_path: dict[str, tuple[list[str], Engine]] = {}
    for name in sorted(ctx.engines, key=lambda name: (name != MAIN, name)):
        engine = ctx.engines[name]
        by_path.setdefault(engine.path, ([], engine))[0].append(name)
    return list(by_path.values())


def _file(names: list[str], engine: Engine) -> models.DbFile:
    try:
        sections = _sections(engine)
    except HivekeepError as fault:
        return {"backend_names": names, "path": engine.path, "diagnostics": None, "error": fault.message}
    return {"backend_names": names, "path": engine.path, "diagnostics": sections, "error": None}


def _sections(engine: Engine) -> models.DbSections:
    revision = build.revision()
    started = process.started()
    own = {
        "build": {"version": __version__, "build_hash": None if revision == build.UNSTAMPED else revision},
        "process": {
            "pid": os.getpid(),
            "started_at": started.at,
            "started_at_unavailable_reason": started.unavailable_reason,
            "pool_generation": POOL_GENERATION,
        },
        **NOTE_ROUTES.report(),
        "note_search_routes_unavailable_reason": None,
    }
    return cast("models.DbSections", {**own, **engine.diagnostics()})
