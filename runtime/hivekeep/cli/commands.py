"""The click commands: each reads its options, asks one part of the program, and tells the outcome.

What it keeps true: standard output carries the result and nothing else; a mistake in the call is status 2.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from hivekeep import __version__, paths
from hivekeep.cli import flags
from hivekeep.cli.common import (
    FAILED,
    USAGE,
    fail,
    print_json,
    print_line,
    settings_options,
    told_errors,
)
from hivekeep.cli.wrong_calls import ProcessCommand
from hivekeep.evaluation import SHAPES, VERBS
from hivekeep_contract.errors import HivekeepError
from hivekeep_contract.limits import INBOX_CAP, INBOX_DEFAULT, MAX_OPS
from hivekeep_contract.request import FORMATS, PRESENTATIONS, Presentation
from hivekeep_contract.vocabulary import ENUM_ALIASES, ENUMS

if TYPE_CHECKING:
    from hivekeep.cli.graph import Graph
    from hivekeep.doors.local import Local

_TASK_STATUSES = (*ENUMS["gtd.status"], *ENUM_ALIASES["gtd.status"])
_TASK_PRIORITIES = ENUMS["gtd.priority"]
UNHEALTHY = 8


def hivekeep(arguments: Sequence[str]) -> NoReturn:
    """Run the command line `arguments`; leaves through SystemExit."""
    if sys.stdout is None:
        fail("standard output is closed; nothing was done", USAGE)
    root.main(args=list(arguments), prog_name="hivekeep")
    raise AssertionError("click leaves through SystemExit")


class _Root(click.Group):
    """The command line. A group with a module of its own is imported when it is named, or all are listed."""

    own_modules = ("agent", "curated", "ledger", "skills")

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted({*super().list_commands(ctx), *self.own_modules})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name in self.own_modules and cmd_name not in self.commands:
            self.add_command(import_module(f"hivekeep.cli.{cmd_name}").group)
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def root() -> None:
    """Memory and control plane that several agents of one machine share."""


@root.command()
@settings_options(flags.COMMON)
@click.pass_obj
def mcp(given: flags.Given) -> None:
    """Serve the Model Context Protocol on standard input and output."""
    from hivekeep.doors import stdio
    from hivekeep.doors.local import Local

    sys.exit(stdio.serve(Local(given)))


@root.command(cls=ProcessCommand)
@settings_options(flags.SERVE, judged_later=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line when ready, instead of the URL.")
@click.pass_obj
def serve(given: flags.Given, as_json: bool) -> None:
    """Serve HTTP on a loopback address until stopped."""
    from hivekeep.cli import server as service

    service.serve(given, as_json=as_json)


@root.command(cls=ProcessCommand)
@settings_options(flags.WEB, judged_later=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line when ready, instead of the URL.")
@click.pass_obj
def web(given: flags.Given, as_json: bool) -> None:
    """Serve as `serve` does, on a port that stays the same; its first page leads to the API and the reference."""
    from hivekeep.cli import server as service

    service.web(given, as_json=as_json)


@root.command("exec")
@settings_options(flags.EXEC)
@click.argument("ops")
@click.option("--presentation", type=click.Choice(PRESENTATIONS), default="verbose", help="How results are shaped.")
@click.option("--format", "output", type=click.Choice(FORMATS), help="How results are rendered.")
@click.option("--save-to", help="Write the entries as JSON lines to this file inside the export folder.")
@click.option("--strict", is_flag=True, help="Status 1 when any operation failed, not only when all did.")
@click.pass_obj
def execute(
    given: flags.Given,
    ops: str,
    presentation: Presentation,
    output: str | None,
    save_to: str | None,
    strict: bool,
) -> None:
    """Run OPS, one or more operations of the request language; `-` reads them from standard input.

    Status 0: all or some operations succeeded. 1: none did, or with --strict not all. 2: nothing ran,
    because the call was wrong.
    """
    from hivekeep.doors.local import Local

    text = _standard_input() if ops == "-" else ops
    local = Local(given)
    with told_errors():
        arguments = {"ops": text, "format": output or local.settings.runtime_default_output_format}
        if save_to is not None:
            arguments["save_to"] = save_to
        try:
            envelope = local.execute(arguments, source="cli", presentation=presentation)
        except HivekeepError as error:
            if error.kind != "invalid_params":
                raise
            from hivekeep.doors import refusals

            print_json(refusals.entry(error))
            sys.exit(USAGE)
        finally:
            local.close()
    print_json(envelope)
    sys.exit(_status(envelope, strict))


def _standard_input() -> str:
    if sys.stdin is None:
        fail("standard input is closed; nothing was done", USAGE)
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _status(envelope: dict[str, Any], strict: bool) -> int:
    """The status of a request that ran: a failed one when nothing succeeded, or `strict` and not all did."""
    summary = envelope["summary"]
    tolerated = 0 if strict else summary["total"] - 1
    return 0 if summary["total"] - summary["succeeded"] <= tolerated else FAILED


@root.command()
@settings_options(flags.COMMON)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def doctor(given: flags.Given, as_json: bool) -> None:
    """Examine the database and the runtime files without changing them; status 8 when something is broken."""
    from hivekeep.cli.examination import examine
    from hivekeep.settings import load

    with told_errors():
        settings = load(given)
        checks = examine(settings)
    healthy = all(check.verdict != "failed" for check in checks)
    if as_json:
        database = paths.database_path(settings)
        print_json({"ok": healthy, "database": database, "checks": [check._asdict() for check in checks]})
    else:
        print_line(
            "\n".join(f"{check.verdict:8}{check.name}{f': {check.detail}' if check.detail else ''}" for check in checks)
        )
    sys.exit(0 if healthy else UNHEALTHY)


@root.command()
@settings_options(flags.COMMON)
@click.option("--model", help="Only the vectors of this embedder.")
@click.option("--rebuild-fts", is_flag=True, help="Build the text indexes anew as well.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def reindex(given: flags.Given, model: str | None, rebuild_fts: bool, as_json: bool) -> None:
    """Make the vectors that records lack: those created in bulk, and all of them after a change of the embedder."""
    from hivekeep.cli import reindexing
    from hivekeep.settings import load

    with told_errors():
        report = reindexing.run(load(given), model, rebuild_fts)
    if as_json:
        print_json(reindexing.to_json(report))
    else:
        print_line(reindexing.to_text(report))


@root.command()
@settings_options(flags.COMMON)
@click.argument("record")
@click.option("--hops", type=click.IntRange(0, 5), default=2, show_default=True, help="How far to go.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A .svg, .dot or .mmd file.")
@click.pass_obj
def graph(given: flags.Given, record: str, hops: int, out: Path | None) -> None:
    """Draw what surrounds RECORD, a name or an id.

    Without --out the picture is printed as Mermaid. An .svg file needs Graphviz; beside it the same picture is written
    as .dot and .mmd, which need nothing.
    """
    from hivekeep.cli import graph as pictures
    from hivekeep.doors.local import Local

    local = Local(given)
    with told_errors():
        try:
            drawn = pictures.neighborhood(partial(_results, local), record, hops, batch=MAX_OPS)
        finally:
            local.close()
    if drawn.truncated:
        click.echo(f"hivekeep: only the first {pictures.NODES_MAX} records are drawn; use fewer --hops", err=True)
    if out is None:
        click.echo(pictures.to_mermaid(drawn), nl=False)
        return
    _write_picture(drawn, out)


def _results(local: Local, ops: str) -> list[Any]:
    """The results of operations that must all succeed; the first failure ends the command."""
    envelope = local.execute({"ops": ops}, source="cli", presentation="verbose")
    for entry in envelope["results"]:
        if not entry["ok"]:
            fail(entry["error"]["message"], FAILED)
    return [entry["result"] for entry in envelope["results"]]


def _write_picture(drawn: Graph, out: Path) -> None:
    """Write the file, and beside an SVG its two texts; a missing Graphviz is told after they are written."""
    from hivekeep.cli import graph as pictures

    texts = {".dot": pictures.to_dot, ".mmd": pictures.to_mermaid}
    if out.suffix not in (*texts, ".svg"):
        fail(f"--out must end in .svg, .dot or .mmd, not {out.suffix or 'without an ending'!r}", USAGE)
    wanted = [out.suffix] if out.suffix in texts else list(texts)
    try:
        for suffix in wanted:
            out.with_suffix(suffix).write_text(texts[suffix](drawn), encoding="utf-8")
            click.echo(f"wrote {out.with_suffix(suffix)}")
        if out.suffix == ".svg":
            out.write_bytes(pictures.to_svg(drawn))
            click.echo(f"wrote {out}")
    except OSError as fault:
        fail(f"{fault.filename}: {fault.strerror}", FAILED)
    except pictures.GraphvizError as reason:
        fail(str(reason), FAILED)


@root.command()
@settings_options(flags.COMMON)
@click.option("--from", "since", metavar="TIME", help="Only events that are due then or later.")
@click.option("--to", "until", metavar="TIME", help="Only events that are due then or earlier.")
@click.option("--limit", type=int, default=20, show_default=True, help="Most events, up to 200.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def agenda(given: flags.Given, since: str | None, until: str | None, limit: int, as_json: bool) -> None:
    """Show what is scheduled next."""
    from hivekeep.cli import scheduling
    from hivekeep.doors.local import Local

    asked = {"from": since, "to": until, "limit": limit}
    args = {name: value for name, value in asked.items() if value is not None}
    local = Local(given)
    with told_errors():
        try:
            (found,) = _results(local, json.dumps([{"tool": "schedule.agenda", "args": args}]))
        finally:
            local.close()
    if as_json:
        print_json(found)
    else:
        print_line(scheduling.to_table(found))


@root.group()
def schedule() -> None:
    """Work with what is scheduled."""


@schedule.command()
@settings_options(flags.COMMON)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def drain(given: flags.Given, as_json: bool) -> None:
    """Carry out once what is due, as a running server does again and again."""
    from hivekeep.cli import scheduling
    from hivekeep.settings import load

    with told_errors():
        summary = scheduling.drain(load(given))
    if summary is None:
        fail(scheduling.BUSY, FAILED)
    if as_json:
        print_json(scheduling.to_json(summary))
    else:
        print_line(scheduling.to_text(summary))


@root.command()
@settings_options(flags.COMMON)
@click.option("--all", "finished", is_flag=True, help="Also the tasks that are done or cancelled.")
@click.option("--assignee", help="Only tasks of this assignee.")
@click.option("--status", type=click.Choice(_TASK_STATUSES), metavar="STATUS", help="Only tasks that stand there.")
@click.option("--priority", type=click.Choice(_TASK_PRIORITIES, case_sensitive=False), help="Only these.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@click.pass_obj
def tasks(given: flags.Given, /, finished: bool, as_json: bool, **wanted: str | None) -> None:
    """Show the open tasks, newest first, and what each waits for."""
    from hivekeep.cli import tasks as listing
    from hivekeep.doors.local import Local

    if finished and wanted["status"] is not None:
        fail("give --all or --status, not both", USAGE)
    filters = {name: value for name, value in wanted.items() if value is not None}
    local = Local(given)
    with told_errors():
        try:
            found, left_out = listing.listed(partial(_results, local), filters, finished=finished)
        finally:
            local.close()
    if as_json:
        print_json(found)
    else:
        print_line(listing.to_table(found, left_out))


@root.command()
@settings_options(flags.COMMON)
@click.option("--unread", is_flag=True, help="Only messages that are not marked read.")
@click.option("--sent", is_flag=True, help="What the actor sent instead of what it got.")
@click.option("--limit", type=click.IntRange(1, INBOX_CAP), default=INBOX_DEFAULT, show_default=True, help="Most rows.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def inbox(given: flags.Given, unread: bool, sent: bool, limit: int, as_json: bool) -> None:
    """Show the messages of an actor, newest first; nothing is marked read."""
    from hivekeep.cli import mail
    from hivekeep.doors.local import Local

    if unread and sent:
        fail("give --unread or --sent, not both", USAGE)
    local = Local(given)
    with told_errors():
        try:
            (page,) = _results(local, mail.asked(sent=sent, unread=unread, limit=limit))
        finally:
            local.close()
    if as_json:
        print_json(page)
    else:
        print_line(mail.to_table(page, sent=sent))


@root.group("eval")
def evaluation() -> None:
    """Measure the product on data of your own."""


@evaluation.command()
@settings_options(flags.EVAL)
@click.option("--dataset", type=click.Path(path_type=Path), required=True, help="The folder of the data set.")
@click.option("--questions", type=click.Path(path_type=Path), help="Questions instead of those of the folder.")
@click.option("--verb", type=click.Choice(list(VERBS)), default="both", show_default=True)
@click.option(
    "--strategy", "strategies", multiple=True, help="A fusion strategy of recall; may be given several times."
)
@click.option("--k", type=int, default=10, show_default=True, help="How many of the best hits count.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many questions.")
@click.option(
    "--shape",
    type=click.Choice(SHAPES),
    default="turns",
    show_default=True,
    help="A conversation is stored as turns that share the source of their session, as turns without a source, or "
    "with all turns of a session in one memory.",
)
@click.option("--stores", type=click.Path(path_type=Path), help="Keep the stores in this folder, and use those in it.")
@click.option("--json", "json_to", help="Write the report with every question as JSON to this file; - prints it.")
@click.pass_obj
def retrieval(given: flags.Given, /, json_to: str | None, **wanted: Any) -> None:
    """Measure search and recall on questions whose answers are known.

    The folder holds corpus.jsonl, queries.jsonl and judgments (BEIR), or turns.jsonl and questions.jsonl.
    """
    from hivekeep.cli.progress import counted, watched
    from hivekeep.evaluation import report as reports
    from hivekeep.evaluation import run as runs
    from hivekeep.evaluation.store import Shown
    from hivekeep.settings import load

    with told_errors():
        verbs = VERBS[wanted.pop("verb")]
        folder = wanted.pop("dataset")
        report = runs.evaluate(runs.Wanted(folder, verbs=verbs, **wanted), load(given), Shown(watched, counted))
    if json_to == "-":
        print_json(reports.to_json(report))
        return
    print_line(reports.to_table(report))
    if json_to is not None:
        _write_json(reports.to_json(report), Path(json_to))


def _write_json(value: Any, file: Path) -> None:
    try:
        file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as fault:
        fail(f"{file}: {fault.strerror}", FAILED)


@root.group()
def server() -> None:
    """Look at a running server."""


@server.command(cls=ProcessCommand)
@settings_options(flags.COMMON)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def status(given: flags.Given, as_json: bool) -> None:
    """Say whether a server of this database runs, and where. The token is never shown."""
    from hivekeep.cli import server as service

    service.status(given, as_json=as_json)


@server.command(cls=ProcessCommand)
@settings_options(flags.COMMON)
@click.pass_obj
def descriptor(given: flags.Given) -> None:
    """Print the path of the file that names URL and token of the running server; status 6 when none runs."""
    from hivekeep.cli import server as service

    service.descriptor(given)
