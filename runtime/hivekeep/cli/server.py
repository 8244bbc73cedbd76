"""`hivekeep serve`, `hivekeep web`, `hivekeep server status` and `hivekeep server descriptor`.

What it keeps true: they say on standard output only what the contract lets them say, one line for a program; what a
server may listen on is judged with the other settings, before anything is made.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from hivekeep import paths
from hivekeep.cli.common import print_json, print_line
from hivekeep.cli.envelopes import leave, told_failures
from hivekeep.cli.flags import Given
from hivekeep_contract.gateway import PROCESS_OPERATIONS
from hivekeep_contract.gateway_errors import NotImplemented as NotAvailable
from hivekeep_contract.gateway_errors import ServiceUnavailable
from hivekeep_contract.settings import Settings


def serve(given: Given, *, as_json: bool) -> None:
    """Serve until stopped; leaves through SystemExit."""
    operation = PROCESS_OPERATIONS["serve"]
    with told_failures(operation, as_json=as_json):
        _run(_settings(given), operation, as_json)


def web(given: Given, *, as_json: bool) -> None:
    """Serve until stopped on the port that is kept for people; leaves through SystemExit."""
    operation = PROCESS_OPERATIONS["web"]
    with told_failures(operation, as_json=as_json):
        settings = _settings(given)
        _run(replace(settings, serve_port=settings.web_port), operation, as_json)


def status(given: Given, *, as_json: bool) -> None:
    """Tell whether a server of the database runs, and where; status 0 whatever the answer is.

    With `as_json` it is `{running, stale}` and, when there is a descriptor, its public fields (gateway rules, status
    output).
    """
    from hivekeep.doors import peer

    with told_failures(PROCESS_OPERATIONS["status"], as_json=as_json):
        found = peer.look(paths.runtime_files(_settings(given)))
    if as_json:
        shown = {} if found.descriptor is None else {"descriptor": found.descriptor.public()}
        print_json({"running": found.running, "stale": found.stale, **shown})
    elif found.descriptor is None:
        print_line("no server runs on this database")
    else:
        told = "running" if found.running else "stale descriptor"
        print_line(f"{told}: {found.descriptor.base_url} (pid {found.descriptor.pid})")


def descriptor(given: Given) -> None:
    """Print the path of the descriptor of the server that runs on the database; ServiceUnavailable without one.

    Programs that speak HTTP read URL and token there, so that neither of them is in an argument or in the output.
    """
    from hivekeep.doors import peer

    with told_failures(PROCESS_OPERATIONS["descriptor"], as_json=False):
        files = paths.runtime_files(_settings(given))
        if not peer.look(files).running:
            raise ServiceUnavailable("no_server")
    print_line(str(files.descriptor))


def _settings(given: Given) -> Settings:
    from hivekeep.settings import load

    return load(given)


def _run(settings: Settings, operation: str, as_json: bool) -> None:
    if sys.platform == "win32":
        told = "a server runs on Linux and macOS; on Windows use mcp and exec"
        leave(operation, NotAvailable("no_platform"), told, as_json=as_json)
    from hivekeep.doors import serve as service

    service.run(settings, operation=operation, as_json=as_json)
