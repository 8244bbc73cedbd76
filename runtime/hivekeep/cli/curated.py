"""`hivekeep curated`: the curated memory for people, on the local database.

What it keeps true: the server is not asked and need not run; without --workspace a command works in the workspace of
the current directory. With `--json` standard output carries one envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from hivekeep.cli import curated_text, documents, flags
from hivekeep.cli.common import print_line, settings_options
from hivekeep.cli.documents import STANDARD_STREAM
from hivekeep.cli.envelopes import leave, sentence, tell
from hivekeep.cli.stores import opened_store
from hivekeep.cli.wrong_calls import JsonGroup
from hivekeep_contract.gateway_errors import UsageError, ValidationError
from hivekeep_contract.limits import CURATED_LIST_DEFAULT, CURATED_LIST_MAX
from hivekeep_contract.vocabulary import ENUMS

if TYPE_CHECKING:
    from hivekeep.agent.curated.desk import Desk

_GROUP = "curated"
_FIELD_FILES = ("scope", "provenance")

Data = dict[str, Any]
Show = Callable[[Mapping[str, Any]], str]
"""The data of an answer as text for a person."""


@click.group(cls=JsonGroup, name=_GROUP)
def group() -> None:
    """Keep what later runs should know: entries with a history, ranked and delivered by the gateway."""


_json_option = click.option("--json", "as_json", is_flag=True, help="Print one envelope as one line.")
_workspace_option = click.option("--workspace", help="The workspace. Absent: that of the current directory.")
_dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would be done and do nothing.")


def _content_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for what an entry says; those that are not given are None, or empty."""
    for option in reversed(
        (
            click.option("--kind", type=click.Choice(ENUMS["gateway.entry_kind"]), help="What it is."),
            click.option("--title", help="Its title."),
            click.option("--body", help="What it says; - reads standard input."),
            click.option("--summary", help="The same in short."),
            click.option("--tag", "tags", multiple=True, help="A tag; may be given several times."),
            click.option("--scope", metavar="FILE", help="Where it applies, as a JSON object."),
            click.option("--provenance", metavar="FILE", help="Where it comes from, as a JSON object."),
            click.option(
                "--input-json", "whole", metavar="FILE|-", help="All fields as a JSON object; - reads standard input."
            ),
        )
    ):
        command = option(command)
    return command


@group.command()
@settings_options(flags.COMMON)
@_workspace_option
@_content_options
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is, from 0 to 1; 1 when not given.")
@_json_option
@click.pass_obj
def record(given: flags.Given, /, workspace: str | None, as_json: bool, **said: Any) -> None:
    """Store an entry, a candidate.

    Give --kind, --title and --body, or all fields with --input-json. When the workspace has an entry that says the
    same, that one is answered.
    """
    with _at_desk(given, "record", as_json) as desk:
        told = desk.record(workspace, _content(said))
    _tell("record", told, as_json, curated_text.recorded)


@group.command()
@settings_options(flags.COMMON)
@click.argument("query", default="")
@_workspace_option
@click.option("--kind", type=click.Choice(ENUMS["gateway.entry_kind"]), help="Only entries of this kind.")
@click.option("--status", type=click.Choice(ENUMS["gateway.entry_status"]), help="Only entries that stand there.")
@click.option("--tag", "tag_key", help="Only entries with this tag.")
@click.option("--all", "superseded", is_flag=True, help="Without QUERY, superseded entries as well.")
@click.option(
    "--limit",
    type=click.IntRange(1, CURATED_LIST_MAX),
    default=CURATED_LIST_DEFAULT,
    show_default=True,
    help="Most entries.",
)
@_json_option
@click.pass_obj
def search(given: flags.Given, /, query: str, workspace: str | None, limit: int, as_json: bool, **wanted: Any) -> None:
    """Show the entries that QUERY finds, best first; without QUERY the newest.

    QUERY finds what could be delivered to a run: neither superseded nor switched off.
    """
    with _at_desk(given, "search", as_json) as desk:
        from hivekeep.storage.agent_entries import EntryFilter

        superseded = wanted.pop("superseded") or wanted["status"] is not None
        told = desk.search(workspace, query, EntryFilter(**wanted, superseded=superseded), limit)
    _tell("search", told, as_json, curated_text.listed)


@group.command()
@settings_options(flags.COMMON)
@click.argument("entry")
@click.option("--revision", type=click.IntRange(1), help="What it said at this revision.")
@_json_option
@click.pass_obj
def show(given: flags.Given, entry: str, revision: int | None, as_json: bool) -> None:
    """Show ENTRY, named by its id or the first eight digits of it: text, revisions, links, and what was done to it."""
    with _at_desk(given, "show", as_json) as desk:
        told = desk.show(entry, revision)
    _tell("show", told, as_json, curated_text.shown if revision is None else curated_text.revision)


@group.command()
@settings_options(flags.COMMON)
@click.argument("entry")
@click.option("--expected-revision", type=click.IntRange(1), required=True, help="The revision that you read.")
@_content_options
@_json_option
@click.pass_obj
def revise(given: flags.Given, /, entry: str, expected_revision: int, as_json: bool, **said: Any) -> None:
    """Change fields of ENTRY, a candidate, as a new revision; fields that are not given stay."""
    with _at_desk(given, "revise", as_json) as desk:
        told = desk.revise(entry, expected_revision, _content(said))
    _tell("revise", told, as_json, curated_text.changed)


@group.command()
@settings_options(flags.COMMON)
@click.argument("entry")
@click.option("--expected-revision", type=click.IntRange(1), required=True, help="The revision that you read.")
@_json_option
@click.pass_obj
def verify(given: flags.Given, entry: str, expected_revision: int, as_json: bool) -> None:
    """Make ENTRY, a candidate, verified: from then on it is not revised any more but superseded."""
    with _at_desk(given, "verify", as_json) as desk:
        told = desk.verify(entry, expected_revision)
    _tell("verify", told, as_json, curated_text.changed)


@group.command()
@settings_options(flags.COMMON)
@click.argument("entry")
@click.option("--with", "replacement", required=True, help="The entry that replaces it.")
@_json_option
@click.pass_obj
def supersede(given: flags.Given, entry: str, replacement: str, as_json: bool) -> None:
    """Have ENTRY replaced by another one of its workspace; it is kept, and not delivered any more."""
    with _at_desk(given, "supersede", as_json) as desk:
        told = desk.supersede(entry, replacement)
    _tell("supersede", told, as_json, curated_text.changed)


@group.command()
@settings_options(flags.COMMON)
@click.argument("entry")
@_json_option
@click.pass_obj
def disable(given: flags.Given, entry: str, as_json: bool) -> None:
    """Keep ENTRY from being delivered."""
    with _at_desk(given, "disable", as_json) as desk:
        told = desk.disable(entry)
    _tell("disable", told, as_json, curated_text.changed)


@group.command()
@settings_options(flags.COMMON)
@click.argument("entry")
@_json_option
@click.pass_obj
def enable(given: flags.Given, entry: str, as_json: bool) -> None:
    """Let ENTRY be delivered again."""
    with _at_desk(given, "enable", as_json) as desk:
        told = desk.enable(entry)
    _tell("enable", told, as_json, curated_text.changed)


@group.command()
@settings_options(flags.COMMON)
@click.argument("entry")
@click.argument("other")
@click.option("--relation", type=click.Choice(ENUMS["gateway.entry_relation"]), required=True, help="How.")
@_json_option
@click.pass_obj
def link(given: flags.Given, entry: str, other: str, relation: str, as_json: bool) -> None:
    """Relate ENTRY to OTHER, an entry of its workspace or of the global one."""
    with _at_desk(given, "link", as_json) as desk:
        told = desk.link(entry, other, relation)
    _tell("link", told, as_json, curated_text.linked)


@group.command()
@settings_options(flags.COMMON)
@click.argument("entry")
@click.option("--confirm", "confirmed", is_flag=True, help="Yes, for good.")
@_json_option
@click.pass_obj
def purge(given: flags.Given, entry: str, confirmed: bool, as_json: bool) -> None:
    """Remove ENTRY for good with its revisions, links and history; only the fact that it was purged is kept."""
    if not confirmed:
        raise click.UsageError("a purge cannot be taken back; give --confirm")
    with _at_desk(given, "purge", as_json) as desk:
        told = desk.purge(entry)
    _tell("purge", told, as_json, curated_text.purged)


@group.command()
@settings_options(flags.COMMON)
@_workspace_option
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The file. Absent: standard output.")
@_json_option
@click.pass_obj
def export(given: flags.Given, workspace: str | None, out: Path | None, as_json: bool) -> None:
    """Write the memory of a workspace as checksummed JSON lines; equal memory gives equal bytes."""
    with _at_desk(given, "export", as_json) as desk:
        if as_json and out is None:
            raise UsageError("bad_usage")
        data, told = desk.export(workspace)
        if out is not None:
            _write(out, data)
    if out is None:
        print_line(data.decode().removesuffix("\n"))
    else:
        _tell("export", {**told, "file": str(out)}, as_json, curated_text.exported)


def _write(out: Path, data: bytes) -> None:
    """Put an export in place whole: what was there before is kept until then. Raises OSError, which names `out`."""
    from hivekeep.request.save import replace_file

    target = out.resolve()
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a pipe or a device stays what it is
        else:
            replace_file(target, data)
    except OSError as fault:
        raise OSError(fault.errno, fault.strerror, str(out)) from None


@group.command("import")
@settings_options(flags.COMMON)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--workspace", help="The workspace. Absent: that of the file, or with --source of the current directory.")
@click.option("--source", help="Have FILE, an exported file or a folder, manage its entries under this name.")
@click.option("--verified", is_flag=True, help="With --source: new entries are verified.")
@click.option("--disable", "disabling", is_flag=True, help="With --source, without FILE: deliver none of its entries.")
@_dry_run_option
@_json_option
@click.pass_obj
def take_in(given: flags.Given, /, file: Path | None, source: str | None, as_json: bool, **how: Any) -> None:
    """Take in FILE, all of it or nothing.

    An exported file brings its entries with their ids and history; what is here already is left alone. With --source
    the file, or a folder of JSON and Markdown files, manages entries: import it again and they follow, also those that
    it has no longer.
    """
    disabling = how.pop("disabling")
    if disabling != (file is None) or (source is None and (disabling or how["verified"])):
        raise click.UsageError("give FILE; --verified goes with --source, and --disable with --source and without FILE")
    with _at_desk(given, "import", as_json) as desk:
        told, text = _taken_in(desk, file, source, **how)
    _tell("import", told, as_json, text)


def _taken_in(
    desk: Desk, file: Path | None, source: str | None, *, workspace: str | None, verified: bool, dry_run: bool
) -> tuple[Data, Show]:
    """Do one of the three things that an import may be; answers its data and how to show it."""
    from hivekeep.agent.curated.desk import read_file

    if source is None:
        assert file is not None
        return desk.take_in(read_file(file), workspace, dry_run=dry_run), curated_text.imported
    if file is None:
        return desk.disable_source(source, workspace, dry_run=dry_run), curated_text.source_disabled
    told = desk.refresh(file, source, workspace, verified=verified, dry_run=dry_run)
    return told, curated_text.refreshed


@group.command()
@settings_options(flags.COMMON)
@click.option("--cwd", type=click.Path(path_type=Path), help="The folder. Absent: the current directory.")
@click.option("--bind", "name", help="Have the repository of the folder belong to this workspace from now on.")
@_json_option
@click.pass_obj
def workspace(given: flags.Given, cwd: Path | None, name: str | None, as_json: bool) -> None:
    """Say which workspace a folder belongs to, and why. All worktrees of a repository share one."""
    with _at_desk(given, "workspace", as_json) as desk:
        told = desk.workspace(cwd) if name is None else desk.bind(name, cwd)
    _tell("workspace", told, as_json, curated_text.workspace)


@group.command("copy-to-memory")
@settings_options(flags.COMMON)
@click.argument("entry")
@_json_option
@click.pass_obj
def copy_to_memory(given: flags.Given, entry: str, as_json: bool) -> None:
    """Copy ENTRY into the memories that verbs see, with memory.remember; twice makes one memory."""
    with _at_desk(given, "copy-to-memory", as_json) as desk:
        told = _copied(given, desk.entry(entry))
    _tell("copy-to-memory", told, as_json, curated_text.copied)


def _copied(given: flags.Given, entry: Data) -> Data:
    from hivekeep.agent.curated import copying
    from hivekeep.doors.local import Local

    local = Local(given)
    try:
        envelope = local.execute({"ops": copying.operation(entry)}, source="cli", presentation="verbose")
    finally:
        local.close()
    return copying.outcome(entry, envelope)


@contextmanager
def _at_desk(given: flags.Given, command: str, as_json: bool) -> Iterator[Desk]:
    """The curated memory of the store, opened for one command; what goes wrong is told and ends the command."""
    from hivekeep.agent.curated.desk import Desk
    from hivekeep.agent.curated.folders import FolderRefused

    operation = _operation(command)
    with opened_store(given, operation, as_json=as_json) as store:
        try:
            yield Desk(store.engine, store.author, Path.cwd())
        except FolderRefused as refused:
            leave(operation, refused.why, f"{refused.name}: {sentence(refused.why)}", as_json=as_json)
        except OSError as fault:
            _unreadable(operation, fault, as_json=as_json)


def _unreadable(operation: str, fault: OSError, *, as_json: bool) -> NoReturn:
    leave(operation, ValidationError("unreadable_file"), f"{fault.filename}: {fault.strerror}", as_json=as_json)


def _tell(command: str, told: Data, as_json: bool, text: Show) -> None:
    tell(_operation(command), told, text, as_json=as_json)


def _operation(command: str) -> str:
    return f"{_GROUP}.{command}"


def _content(said: Mapping[str, Any]) -> Data:
    """The fields that were given, as options or in one file."""
    options = {name: value for name, value in said.items() if name != "whole" and value not in (None, ())}
    if said["whole"] is not None:
        if options:
            raise UsageError("bad_usage")
        return documents.object_in(said["whole"])
    for name in _FIELD_FILES:
        if name in options:
            options[name] = documents.object_in(options[name])
    if "tags" in options:
        options["tags"] = list(options["tags"])
    if options.get("body") == STANDARD_STREAM:
        options["body"] = documents.text_in(STANDARD_STREAM)
    return options
