"""`hivekeep agent`: the operations of the gateway for people and scripts, over authenticated HTTP alone.

What it keeps true: without a running server a command fails, or with `--spool` its write waits on disk; the database
never answers in its place, and is looked into for one thing only: which workspace the current directory belongs to.
With `--json` the envelope of the server is printed as it came. Each write has a key: the one that is given, or a new
one that is told on standard error, so that the very same request can be sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from hivekeep import paths
from hivekeep.agent.canonical import ts
from hivekeep.cli import documents, flags, runs
from hivekeep.cli.asking import OPEN, Data, asking, carry_out, keep_and_send, sending, tell_answer, workspace_here
from hivekeep.cli.common import Command, print_line, settings_options
from hivekeep.cli.envelopes import leave, print_envelope
from hivekeep.cli.wrong_calls import JsonGroup
from hivekeep.doors import gateway
from hivekeep.times import now_us
from hivekeep_contract.gateway import (
    CAPTURE_WORDS,
    CLIENT_DEFAULTS,
    PROCESS_OPERATIONS,
    SPOOL_OPERATIONS,
)
from hivekeep_contract.gateway_errors import PartialFailure, UsageError
from hivekeep_contract.limits import GATEWAY_PAGE_MAX
from hivekeep_contract.vocabulary import ENUMS

if TYPE_CHECKING:
    from hivekeep_contract.settings import Settings

_WHOLE_BODY = "--input-json"


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

    def body(_: Settings) -> dict[str, Any]:
        return _with_catalog(_opening(wanted) if whole is None else _object(whole), wanted["capabilities"])

    def show(data: Data, sent: Data) -> str:
        return runs.opened_text(data, sent["coverage"])

    carry_out(given, OPEN, None, body, show, key=key, as_json=as_json)


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

    def body(_: Settings) -> dict[str, Any]:
        made = {"questionId": wanted["question"], "value": wanted["value"]}
        return _with_catalog(made if whole is None else _object(whole), wanted["capabilities"])

    carry_out(given, "agent.answer", run, body, lambda data, _: runs.opened_text(data), key=key, as_json=as_json)


class Short(NamedTuple):
    """How the body of a command is made of options: these, of which the first must be given, by this function."""

    options: tuple[click.Option, ...]
    make: Callable[[Mapping[str, Any], str], dict[str, Any]]


def _reporting(
    name: str,
    operation: str,
    show: Callable[[Data], str],
    doc: str,
    *,
    with_catalog: bool = False,
    short: Short | None = None,
) -> click.Command:
    """The command `name`, which sends a body from a file, or one that is made of options, to a run."""

    def command(
        given: flags.Given,
        /,
        run: str,
        whole: str | None,
        key: str | None,
        as_json: bool,
        capabilities: str | None = None,
        spool: bool = False,
        **wanted: Any,
    ) -> None:
        if short is not None:
            _either(short, whole, wanted)

        def body(settings: Settings) -> dict[str, Any]:
            if short is None or whole is not None:
                return _with_catalog(_object(str(whole)), capabilities)
            return short.make(wanted, settings.actor_id or CLIENT_DEFAULTS["kind"])

        write = keep_and_send if spool else carry_out
        write(given, operation, run, body, lambda data, _: show(data), key=key, as_json=as_json)

    command.__doc__ = doc
    decorated = _json_option(click.pass_obj(command))
    decorated = _body_option(required=short is None)(_key_option(decorated))
    if with_catalog:
        decorated = _catalog_option(decorated)
    if name in SPOOL_OPERATIONS:
        decorated = _spool_option(decorated)
    decorated = settings_options(flags.AGENT)(click.argument("run")(decorated))
    made = group.command(name)(decorated)
    if short is not None:
        place = [parameter.name for parameter in made.params].index("whole")
        made.params[place:place] = short.options
    return made


def _either(short: Short, whole: str | None, wanted: Mapping[str, Any]) -> None:
    """Refuse a call that gives the body twice, or not at all."""
    first = short.options[0]
    given = [name for name, value in wanted.items() if value]
    if bool(given) == (whole is not None) or (whole is None and first.name not in given):
        raise click.UsageError(f"give {first.opts[0]} and what belongs to it, or the whole body with {_WHOLE_BODY}")


def _event(wanted: Mapping[str, Any], actor: str) -> dict[str, Any]:
    """One event of the actor, as a batch."""
    event = {"eventType": wanted["event_type"], "actor": actor, "payload": None}
    if wanted["payload"] is not None:
        event["payload"] = _value(wanted["payload"])
    if wanted["outcome"] is not None:
        event["outcome"] = wanted["outcome"]
    return {"events": [event]}


def _ending(wanted: Mapping[str, Any], actor: str) -> dict[str, Any]:
    """The end of a run, without last events."""
    return {"status": wanted["status"]}


def _promotion(wanted: Mapping[str, Any], actor: str) -> dict[str, Any]:
    """The promotion of a proposal by the actor, now."""
    body = {"proposalEventId": wanted["proposal"], "actor": actor, "createdAt": ts(now_us()), "confirmed": True}
    return body if wanted["delivery"] is None else {**body, "deliveryId": wanted["delivery"]}


events = _reporting(
    "events",
    "agent.events",
    runs.acknowledged_text,
    "Append events to the ledger of RUN: one with --type, or a whole batch with --input-json.",
    short=Short(
        (
            click.Option(
                ["--type", "event_type"],
                type=click.Choice(ENUMS["gateway.event_type"]),
                metavar="TYPE",
                help="The type of one event.",
            ),
            click.Option(["--outcome"], help="How it ended, such as passed or failed."),
            click.Option(
                ["--payload"], metavar="FILE|-", help="What there is to say of it, as JSON; - reads standard input."
            ),
        ),
        _event,
    ),
)
checkpoint = _reporting(
    "checkpoint",
    "agent.checkpoint",
    runs.checkpointed_text,
    "Report where RUN stands; the answer has context and advice.",
    with_catalog=True,
)
close = _reporting(
    "close",
    "agent.close",
    runs.acknowledged_text,
    "End RUN.",
    short=Short(
        (click.Option(["--status"], type=click.Choice(ENUMS["gateway.close_status"]), help="How it ended."),), _ending
    ),
)
feedback = _reporting(
    "feedback", "agent.feedback", runs.feedback_text, "Judge a delivered entry, a recommendation, RUN or its intake."
)
promote = _reporting(
    "promote",
    "agent.promotions",
    runs.promoted_text,
    "Make a candidate entry of a proposal that RUN reported and that you have looked at.",
    short=Short(
        (
            click.Option(["--proposal"], metavar="EVENT", help="The id of the proposal, as the timeline shows it."),
            click.Option(["--delivery"], metavar="ID", help="The delivery that the proposal follows from."),
        ),
        _promotion,
    ),
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
    with asking(given, "agent.runs.list", as_json) as (settings, connect), connect() as client:
        if wanted["workspace"] is None:
            wanted["workspace"] = workspace_here(settings)
        page = client.call("agent.runs.list", query=_query(wanted))
    tell_answer(page, as_json, runs.runs_table)


@group.command()
@settings_options(flags.AGENT)
@click.argument("run")
@_json_option
@click.pass_obj
def show(given: flags.Given, run: str, as_json: bool) -> None:
    """Show RUN: where it stands, what its client can report, and its intake."""
    with asking(given, "agent.run.read", as_json) as (_, connect), connect() as client:
        found = client.call("agent.run.read", run_id=run)
        intake = None if as_json or found.failure is not None else client.call("agent.intake.read", run_id=run)
    if intake is None:
        tell_answer(found, as_json, str)
    else:
        tell_answer(intake, as_json, partial(runs.run_text, found.data))


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
    with asking(given, "agent.events.list", as_json) as (_, connect), connect() as client:
        page = client.call("agent.events.list", run_id=run, query=query)
        # A client that reports only a part must not be taken for one that reports all.
        found = None if as_json or page.failure is not None else client.call("agent.run.read", run_id=run)
    if found is None:
        tell_answer(page, as_json, str)
    else:
        tell_answer(found, as_json, lambda data: runs.timeline_table(data, page.data))


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
    with asking(given, operation, as_json) as (settings, connect):
        with Spool(paths.spool_dir(settings)) as spool, sending(connect) as send:
            done = spool.flush(send)
        outcome = runs.flushed_text(done, spool.folder)
        if done.refused or done.left:
            failure = PartialFailure() if done.answers or done.why is None else done.why
            leave(operation, failure, outcome, as_json=as_json)
    if as_json:
        print_envelope(gateway.success(operation, {"sent": len(done.answers)}))
    else:
        print_line(outcome)


def _object(source: str) -> dict[str, Any]:
    with _readable():
        return documents.object_in(source)


def _value(source: str) -> Any:
    with _readable():
        return documents.value_in(source)


@contextmanager
def _readable() -> Iterator[None]:
    """A file that cannot be read is a mistake in the call."""
    try:
        yield
    except OSError:
        raise UsageError("unreadable_file") from None


def _with_catalog(body: dict[str, Any], source: str | None) -> dict[str, Any]:
    """The body with the catalog of a file; whether it is a list, and a good one, the server judges."""
    return body if source is None else {**body, "capabilities": _value(source)}


def _query(wanted: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a query string that were given."""
    return {name: str(value) for name, value in wanted.items() if value is not None}
