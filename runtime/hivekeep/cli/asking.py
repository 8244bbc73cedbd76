"""How `hivekeep agent` asks the running server: one request, told as it was answered, or a write that waits on disk.

What it keeps true: the server is looked for when there is something to send, and every failure is told and ends the
command. A write has one key, the one that is given or a new one that is told, so that the very same request can be sent
again.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from hivekeep import paths
from hivekeep.cli import flags, runs
from hivekeep.cli.common import fail, print_line
from hivekeep.cli.envelopes import print_envelope, told, told_failures
from hivekeep.doors import gateway
from hivekeep_contract.gateway import API_VERSION, PROCESS_OPERATIONS
from hivekeep_contract.gateway_errors import UsageError, ValidationError
from hivekeep_contract.routes import ACTOR_HEADER, SESSION_HEADER

if TYPE_CHECKING:
    from hivekeep.doors.client import Answer, Client
    from hivekeep.doors.spool import Write
    from hivekeep_contract.settings import Settings

OPEN = "agent.open"
_KEY_MEMBER = "idempotencyKey"

Data = Mapping[str, Any]
Body = Callable[["Settings"], dict[str, Any]]
"""Makes the body of a write; what it cannot read or understand becomes a failure of the command."""


class Asking(NamedTuple):
    """What a command works with: the settings, and what connects it to the server."""

    settings: Settings
    connect: Callable[[], Client]


@contextmanager
def asking(given: flags.Given, operation: str, as_json: bool) -> Iterator[Asking]:
    """The settings and the way to the server, for one command; every failure is told and ends it."""
    from hivekeep.doors.client import Client
    from hivekeep.settings import load

    with told_failures(operation, as_json=as_json):
        settings = load(given)
        who = {ACTOR_HEADER: settings.actor_id, SESSION_HEADER: settings.actor_session}
        headers = {name: value for name, value in who.items() if value is not None}
        yield Asking(settings, partial(Client.of, paths.runtime_files(settings), headers))


def carry_out(
    given: flags.Given,
    operation: str,
    run: str | None,
    body: Body,
    show: Callable[[Data, Data], str],
    *,
    key: str | None,
    as_json: bool,
) -> None:
    """Carry out a write; `show` gets the data of the answer and what was sent."""
    with asking(given, operation, as_json) as (settings, connect):
        sent = {"apiVersion": API_VERSION, **body(settings)}
        chosen = _key(key, sent)
        with connect() as client:
            if operation == OPEN and sent.get("workspace") is None:
                sent["workspace"] = workspace_here(settings)
            found = client.call(operation, run_id=run, body=sent, key=chosen)
    tell_answer(found, as_json, lambda data: show(data, sent))


def keep_and_send(
    given: flags.Given,
    operation: str,
    run: str,
    body: Body,
    show: Callable[[Data, Data], str],
    *,
    key: str | None,
    as_json: bool,
) -> None:
    """Keep a write on disk, then send it behind those of its run that wait already; told is what `carry_out` tells.

    That it cannot be sent now is no failure of the command: the write waits.
    """
    from hivekeep.doors.spool import Spool, Write

    with asking(given, operation, as_json) as (settings, connect):
        sent = {"apiVersion": API_VERSION, **body(settings)}
        write = Write(operation, run, _key(key, sent), sent)
        with Spool(paths.spool_dir(settings)) as spool, sending(connect) as send:
            spool.keep(write, home=str(paths.home()))
            done = spool.flush(send, run)
    ours = [answer for one, answer in done.answers if (one.operation, one.key) == (operation, write.key)]
    if ours:
        tell_answer(ours[-1], as_json, lambda data: show(data, sent))
    elif as_json:
        print_envelope(gateway.success(PROCESS_OPERATIONS["spool"], {"waiting": done.left}))
    else:
        print_line(runs.flushed_text(done, spool.folder))


@contextmanager
def sending(connect: Callable[[], Client]) -> Iterator[Callable[[Write], Answer]]:
    """What sends a write that waited; the server is looked for at the first one."""
    with ExitStack() as stack:
        clients: list[Client] = []

        def send(write: Write) -> Answer:
            if not clients:
                clients.append(stack.enter_context(connect()))
            return clients[0].call(write.operation, run_id=write.run_id, body=write.body, key=write.key)

        yield send


def _key(option: str | None, body: dict[str, Any]) -> str:
    """The key of a write: the option, or the member of the body, which is taken out; or a new one, which is told."""
    member = body.pop(_KEY_MEMBER, None)
    if member is not None and not isinstance(member, str):
        raise ValidationError("key_malformed")
    if option is not None and member is not None and option != member:
        raise UsageError("bad_usage")
    chosen: str | None = member if option is None else option
    if chosen is None:
        chosen = str(uuid.uuid4())
        click.echo(f"hivekeep: idempotency key {chosen}", err=True)
    return chosen


def workspace_here(settings: Settings) -> str:
    """The workspace of the current directory, as the store of the server knows it; nothing else of it is read."""
    from hivekeep.agent.curated import workspaces
    from hivekeep.storage.connections import storage_options
    from hivekeep.storage.sqlite import SqliteEngine

    try:
        place = workspaces.look(Path.cwd())
    except OSError:
        raise UsageError("unreadable_file") from None
    engine = SqliteEngine(paths.database_path(settings), storage_options(settings), read_only=True)
    try:
        engine.start(threaded=False)
        with engine.read() as tx:
            return workspaces.resolve(tx, place).workspace
    finally:
        engine.close()


def tell_answer(found: Answer, as_json: bool, show: Callable[[Data], str]) -> None:
    """Print an answer; a failure ends the command with its status."""
    if as_json:
        print_envelope(found.envelope)
    if found.failure is not None:
        fail(told(found.failure, found.envelope["error"]["details"]), found.failure.exit_status)
    if not as_json:
        print_line(show(found.data))
