"""`hivekeep agent`: the operations of the gateway for people and scripts, over authenticated HTTP alone.

What it keeps true: without a running server a command fails, or with `--spool` its write waits on disk; the database
never answers in its place, and is looked into for one thing only: which workspace the current directory belongs to.
With `--json` the envelope of the server is printed as it came. Each write has a key: the one that is given, or a new
one that is told on standard error, so that the very same request can be sent again.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from hivekeep import paths
from hivekeep.cli import flags, runs
from hivekeep.cli.common import Command, fail, print_line, settings_options
from hivekeep.cli.envelopes import JsonGroup, leave, print_envelope, told, told_failures
from hivekeep.doors import gateway, wire
from hivekeep_contract.gateway import (
    API_VERSION,
    CAPTURE_WORDS,
    CLIENT_DEFAULTS,
    PROCESS_OPERATIONS,
    SPOOL_OPERATIONS,
)
from hivekeep_contract.gateway_errors import PartialFailure, UsageError, ValidationError
from hivekeep_contract.limits import GATEWAY_PAGE_MAX, HTTP_BODY_MAX_BYTES
from hivekeep_contract.routes import ACTOR_HEADER, SESSION_HEADER
from hivekeep_contract.vocabulary import ENUMS

if TYPE_CHECKING:
    from hivekeep.doors.client import Answer, Client
    from hivekeep.doors.spool import Write
    from hivekeep_contract.settings import Settings

STANDARD_INPUT = "-"
_OPEN = "agent.open"
_KEY_MEMBER = "idempotencyKey"
_WHOLE_BODY = "--input-json"

Data = Mapping[str, Any]
Body = Callable[[], dict[str, Any]]
"""Makes the body of a write; what it cannot read or understand becomes a failure of the command."""


class Asking(NamedTuple):
    """What a command works with: the settings, and what connects it to the server."""

    settings: Settings
    connect: Callable[[], Client]


@click.group(cls=JsonGroup, name=PROCESS_OPERATIONS["agent"])
def group() -> None:
    """Report runs to the gateway of the running server, and look at them."""


_json_option = click.option("--json", "as_json", is_flag=True, help="Print the envelope of the answer as one line.")
_key_option = click.option("--idempotency-key", "key", help="The key of the write. Absent: a new one, which is told.")
_catalog_option = click.option(
    "--capabilities", metavar="FILE", help="Skills and tools of the client as a JSON list, the same at every call."
)


_spool_option = click.option(
    "--spool", is_flag=True, help="Keep the write on disk, without credentials, until a server has answered it."
)


def _body_option(*, required: bool) -> Callable[[Command], Command]:
    text = "The whole body as a JSON file; - reads standard input. A member idempotencyKey becomes the key."
    return click.option(_WHOLE_BODY, "whole", metavar="FILE|-", required=required, help=text)


@group.command("open")
@settings_options(flags.AGENT)
@click.option("--workspace", help="Where the run belongs. Absent: the workspace of the current directory.")
@click.option("--title", help="A short name of the task.")
@click.option("--query", help="What was asked for. Absent: the title.")
@click.option("--client-kind", default=CLIENT_DEFAULTS["kind"], show_default=True, help="The program that reports.")
@click.option(
    "--capture",
    type=click.Choice(list(CAPTURE_WORDS)),
    default=CLIENT_DEFAULTS["captureProfile"],
    show_default=True,
    help="How much the client means to report.",
)
@click.option("--hints", metavar="FILE", help="Slots of the task profile that are known, as a JSON object.")
@click.option("--coverage", metavar="FILE", help="How much of each category the client reports, as a JSON object.")
@click.option("--metadata", metavar="FILE", help="What to keep beside the run, as a JSON object.")
@_catalog_option
@_body_option(required=False)
@_key_option
@_json_option
@click.pass_obj
def open_run(given: flags.Given, /, whole: str | None, key: str | None, as_json: bool, **wanted: str | None) -> None:
    """Open a run and its intake.

    Give --title and what belongs to it, or the whole body with --input-json.
    """
    if (whole is None) == (wanted["title"] is None):
        raise click.UsageError(f"give --title and what belongs to it, or the whole body with {_WHOLE_BODY}")

    def body() -> dict[str, Any]:
        return _with_catalog(_opening(wanted) if whole is None else _object(whole), wanted["capabilities"])

    def show(data: Data, sent: Data) -> str:
        return runs.opened_text(data, sent["coverage"])

    _write(given, _OPEN, None, body, show, key=key, as_json=as_json)


def _opening(wanted: Mapping[str, str | None]) -> dict[str, Any]:
    """The body of an opening that is made of options."""
    task: dict[str, Any] = {"title": wanted["title"], "query": wanted["query"] or wanted["title"]}
    if wanted["hints"] is not None:
        task["profileHints"] = _object(wanted["hints"])
    body = {
        "workspace": wanted["workspace"],
        "client": {"kind": wanted["client_kind"]},
        "task": task,
        "captureProfile": CAPTURE_WORDS[str(wanted["capture"])],
        "coverage": CLIENT_DEFAULTS["coverage"] if wanted["coverage"] is None else _object(wanted["coverage"]),
    }
    if wanted["metadata"] is not None:
        body["metadata"] = _object(wanted["metadata"])
    return body


@group.command()
@settings_options(flags.AGENT)
@click.argument("run")
@click.option("--question", type=click.Choice(ENUMS["gateway.profile_field"]), help="The question that waits.")
@click.option("--value", help="What the person said.")
@_catalog_option
@_body_option(required=False)
@_key_option
@_json_option
@click.pass_obj
def answer(
    given: flags.Given, /, run: str, whole: str | None, key: str | None, as_json: bool, **wanted: str | None
) -> None:
    """Answer the question that the intake of RUN waits for, with what the person said."""
    options = [wanted["question"], wanted["value"]]
    if None in options if whole is None else options != [None, None]:
        raise click.UsageError(f"give --question and --value, or the whole body with {_WHOLE_BODY}")

    def body() -> dict[str, Any]:
        made = {"questionId": wanted["question"], "value": wanted["value"]}
        return _with_catalog(made if whole is None else _object(whole), wanted["capabilities"])

    _write(given, "agent.answer", run, body, lambda data, _: runs.opened_text(data), key=key, as_json=as_json)


def _reporting(
    name: str, operation: str, show: Callable[[Data], str], doc: str, *, with_catalog: bool = False
) -> click.Command:
    """The command `name`, which sends a body from a file to a run."""

    def command(
        given: flags.Given,
        /,
        run: str,
        whole: str,
        key: str | None,
        as_json: bool,
        capabilities: str | None = None,
        spool: bool = False,
    ) -> None:
        def body() -> dict[str, Any]:
            return _with_catalog(_object(whole), capabilities)

        write = _keep_and_send if spool else _write
        write(given, operation, run, body, lambda data, _: show(data), key=key, as_json=as_json)

    command.__doc__ = doc
    decorated = _json_option(click.pass_obj(command))
    decorated = _body_option(required=True)(_key_option(decorated))
    if with_catalog:
        decorated = _catalog_option(decorated)
    if name in SPOOL_OPERATIONS:
        decorated = _spool_option(decorated)
    decorated = settings_options(flags.AGENT)(click.argument("run")(decorated))
    return group.command(name)(decorated)


events = _reporting("events", "agent.events", runs.acknowledged_text, "Append events to the ledger of RUN.")
checkpoint = _reporting(
    "checkpoint",
    "agent.checkpoint",
    runs.checkpointed_text,
    "Report where RUN stands; the answer has context and advice.",
    with_catalog=True,
)
close = _reporting("close", "agent.close", runs.acknowledged_text, "End RUN.")
feedback = _reporting(
    "feedback", "agent.feedback", runs.feedback_text, "Judge a delivered entry, a recommendation, RUN or its intake."
)
promote = _reporting(
    "promote", "agent.promotions", runs.promoted_text, "Make a candidate entry of a proposal that RUN reported."
)


@group.command("runs")
@settings_options(flags.AGENT)
@click.option("--workspace", help="The workspace of the runs. Absent: that of the current directory.")
@click.option("--client", help="Only runs of this kind of client.")
@click.option("--status", type=click.Choice(ENUMS["gateway.run_status"]), help="Only runs that stand there.")
@click.option("--limit", type=click.IntRange(1, GATEWAY_PAGE_MAX), default=20, show_default=True, help="Most runs.")
@click.option("--cursor", help="Where the page begins, as the page before says.")
@_json_option
@click.pass_obj
def list_runs(given: flags.Given, /, as_json: bool, **wanted: Any) -> None:
    """Show the runs of a workspace, newest first."""
    with _asking(given, "agent.runs.list", as_json) as (settings, connect), connect() as client:
        if wanted["workspace"] is None:
            wanted["workspace"] = _workspace_here(settings)
        page = client.call("agent.runs.list", query=_query(wanted))
    _tell(page, as_json, runs.runs_table)


@group.command()
@settings_options(flags.AGENT)
@click.argument("run")
@_json_option
@click.pass_obj
def show(given: flags.Given, run: str, as_json: bool) -> None:
    """Show RUN: where it stands, what its client can report, and its intake."""
    with _asking(given, "agent.run.read", as_json) as (_, connect), connect() as client:
        found = client.call("agent.run.read", run_id=run)
        intake = None if as_json or found.failure is not None else client.call("agent.intake.read", run_id=run)
    if intake is None:
        _tell(found, as_json, str)
    else:
        _tell(intake, as_json, partial(runs.run_text, found.data))


@group.command()
@settings_options(flags.AGENT)
@click.argument("run")
@click.option("--after", type=click.IntRange(min=0), help="Only events behind this number.")
@click.option("--type", "type", type=click.Choice(ENUMS["gateway.event_type"]), metavar="TYPE", help="Only these.")
@click.option(
    "--limit",
    type=click.IntRange(1, GATEWAY_PAGE_MAX),
    default=GATEWAY_PAGE_MAX,
    show_default=True,
    help="Most events.",
)
@_json_option
@click.pass_obj
def timeline(given: flags.Given, /, run: str, as_json: bool, **wanted: Any) -> None:
    """Show the events of RUN, oldest first, below what its client can report."""
    query = _query(wanted)
    with _asking(given, "agent.events.list", as_json) as (_, connect), connect() as client:
        page = client.call("agent.events.list", run_id=run, query=query)
        # A client that reports only a part must not be taken for one that reports all.
        found = None if as_json or page.failure is not None else client.call("agent.run.read", run_id=run)
    if found is None:
        _tell(page, as_json, str)
    else:
        _tell(found, as_json, lambda data: runs.timeline_table(data, page.data))


@group.command()
@settings_options(flags.AGENT)
@_json_option
@click.pass_obj
def flush(given: flags.Given, as_json: bool) -> None:
    """Send the writes that were kept with --spool, in their order.

    Those that the server refuses for good are put aside and told; status 9 when that, or a server that is gone, leaves
    some of them unsent.
    """
    from hivekeep.doors.spool import Spool

    operation = PROCESS_OPERATIONS["flush"]
    with _asking(given, operation, as_json) as (settings, connect):
        with Spool(paths.spool_dir(settings)) as spool, _sending(connect) as send:
            done = spool.flush(send)
        outcome = runs.flushed_text(done, spool.folder)
        if done.refused or done.left:
            failure = PartialFailure() if done.answers or done.why is None else done.why
            leave(operation, failure, outcome, as_json=as_json)
    if as_json:
        print_envelope(gateway.success(operation, {"sent": len(done.answers)}))
    else:
        print_line(outcome)


@contextmanager
def _asking(given: flags.Given, operation: str, as_json: bool) -> Iterator[Asking]:
    """The settings and the way to the server, for one command; every failure is told and ends it."""
    from hivekeep.doors.client import Client
    from hivekeep.settings import load

    with told_failures(operation, as_json=as_json):
        settings = load(given)
        who = {ACTOR_HEADER: settings.actor_id, SESSION_HEADER: settings.actor_session}
        headers = {name: value for name, value in who.items() if value is not None}
        yield Asking(settings, partial(Client.of, paths.runtime_files(settings), headers))


def _write(
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
    with _asking(given, operation, as_json) as (settings, connect):
        sent = {"apiVersion": API_VERSION, **body()}
        chosen = _key(key, sent)
        with connect() as client:
            if operation == _OPEN and sent.get("workspace") is None:
                sent["workspace"] = _workspace_here(settings)
            found = client.call(operation, run_id=run, body=sent, key=chosen)
    _tell(found, as_json, lambda data: show(data, sent))


def _keep_and_send(
    given: flags.Given,
    operation: str,
    run: str,
    body: Body,
    show: Callable[[Data, Data], str],
    *,
    key: str | None,
    as_json: bool,
) -> None:
    """Keep a write on disk, then send it behind those of its run that wait already; told is what `_write` tells.

    That it cannot be sent now is no failure of the command: the write waits.
    """
    from hivekeep.doors.spool import Spool, Write

    with _asking(given, operation, as_json) as (settings, connect):
        sent = {"apiVersion": API_VERSION, **body()}
        write = Write(operation, run, _key(key, sent), sent)
        with Spool(paths.spool_dir(settings)) as spool, _sending(connect) as send:
            spool.keep(write, home=str(paths.home()))
            done = spool.flush(send, run)
    ours = [answer for one, answer in done.answers if (one.operation, one.key) == (operation, write.key)]
    if ours:
        _tell(ours[-1], as_json, lambda data: show(data, sent))
    elif as_json:
        print_envelope(gateway.success(PROCESS_OPERATIONS["spool"], {"waiting": done.left}))
    else:
        print_line(runs.flushed_text(done, spool.folder))


@contextmanager
def _sending(connect: Callable[[], Client]) -> Iterator[Callable[[Write], Answer]]:
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


def _workspace_here(settings: Settings) -> str:
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


def _object(source: str) -> dict[str, Any]:
    """The JSON object in a file, or on standard input."""
    return gateway.json_object(_bytes(source))


def _with_catalog(body: dict[str, Any], source: str | None) -> dict[str, Any]:
    """The body with the catalog of a file; whether it is a list, and a good one, the server judges."""
    if source is None:
        return body
    try:
        return {**body, "capabilities": wire.decode(_bytes(source))}
    except ValueError:
        raise ValidationError("not_json") from None


def _bytes(source: str) -> bytes:
    """What is in a file, or on standard input, up to a little more than may be sent."""
    try:
        if source != STANDARD_INPUT:
            with Path(source).open("rb") as file:
                raw = file.read(HTTP_BODY_MAX_BYTES + 1)
        elif sys.stdin is None:
            raise UsageError("unreadable_file")
        else:
            raw = sys.stdin.buffer.read(HTTP_BODY_MAX_BYTES + 1)
    except OSError:
        raise UsageError("unreadable_file") from None
    if len(raw) > HTTP_BODY_MAX_BYTES:
        raise ValidationError("body_too_large")
    return raw


def _query(wanted: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a query string that were given."""
    return {name: str(value) for name, value in wanted.items() if value is not None}


def _tell(found: Answer, as_json: bool, show: Callable[[Data], str]) -> None:
    """Print an answer; a failure ends the command with its status."""
    if as_json:
        print_envelope(found.envelope)
    if found.failure is not None:
        fail(told(found.failure, found.envelope["error"]["details"]), found.failure.exit_status)
    if not as_json:
        print_line(show(found.data))
