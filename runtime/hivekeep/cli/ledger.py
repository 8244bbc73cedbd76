"""`hivekeep ledger`: the runs of the gateway for an operator, on the local database.

What it keeps true: the server is not asked and need not run. Nothing is removed without --confirm. With `--json`
standard output carries one envelope.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from hivekeep.cli import flags, ledger_text
from hivekeep.cli.common import settings_options
from hivekeep.cli.envelopes import leave, sentence, tell
from hivekeep.cli.stores import opened_store
from hivekeep.cli.wrong_calls import JsonGroup
from hivekeep_contract.gateway import AGE_UNITS
from hivekeep_contract.gateway_errors import IntegrityError, PartialFailure
from hivekeep_contract.vocabulary import ENUMS

if TYPE_CHECKING:
    from hivekeep.agent.ledger_desk import LedgerDesk

_GROUP = "ledger"
_AGE = re.compile(rf"([0-9]{{1,6}})([{''.join(AGE_UNITS)}])\Z")

_ONE_OR_MANY = "give RUN, or --workspace, --status and --older-than together"

Data = dict[str, Any]
Show = Callable[[Mapping[str, Any]], str]
"""The data of an answer as text for a person."""


def _age(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
    """A number of hours, days or weeks, as seconds."""
    if value is None:
        return None
    found = _AGE.match(value)
    if found is None:
        raise click.BadParameter(f"an age is a number and one of the letters {', '.join(AGE_UNITS)}, such as 30d")
    return int(found[1]) * AGE_UNITS[found[2]]


@click.group(cls=JsonGroup, name=_GROUP)
def group() -> None:
    """Examine what is stored of the runs of agents, and remove runs."""


_json_option = click.option("--json", "as_json", is_flag=True, help="Print one envelope as one line.")


@group.command()
@settings_options(flags.COMMON)
@click.argument("run", required=False)
@_json_option
@click.pass_obj
def inspect(given: flags.Given, run: str | None, as_json: bool) -> None:
    """Examine the ledger of RUN, or of all runs: chain, counters, references, and what looks like a credential.

    Status 8 when a ledger is not what was appended to it. A credential is told and leaves the status at 0. Of a run
    that was purged, what is left is told: when, by whom, and how many events it had.
    """
    with _at_desk(given, "inspect", as_json) as desk:
        told = desk.inspect(run)
    _tell("inspect", told, as_json, ledger_text.inspected)
    if not told["sound"]:
        sys.exit(IntegrityError.exit_status)


@group.command()
@settings_options(flags.COMMON)
@click.argument("run", required=False)
@click.option("--workspace", help="Without RUN: runs of this workspace,")
@click.option("--status", type=click.Choice(ENUMS["gateway.run_status"]), help="that stand there,")
@click.option("--older-than", "age_s", callback=_age, metavar="AGE", help="and got nothing for so long, such as 30d.")
@click.option("--confirm", "confirmed", is_flag=True, help="Yes, for good. Absent: say what would be removed.")
@_json_option
@click.pass_obj
def purge(
    given: flags.Given,
    run: str | None,
    workspace: str | None,
    status: str | None,
    age_s: int | None,
    confirmed: bool,
    as_json: bool,
) -> None:
    """Remove RUN for good, or the abandoned runs of a workspace, and everything that is stored of them.

    Without --confirm nothing is removed, and what would be is told.

    Entries that its proposals became stay. One row is left that says which run it was, when and by whom it was purged,
    how many events it had, and the hash of the last one: the id and the keys of the run are not taken again.

    The database file is rewritten afterwards and its log emptied, so neither holds a byte of the run; other writes wait
    meanwhile. Status 9: the run is gone, but somebody read an old state or the disk was full. Repeat the command then.
    Backups, copies and exports that were made before are not touched.
    """
    picked = (workspace, status, age_s)
    if run is not None:
        if picked != (None, None, None):
            raise click.UsageError(_ONE_OR_MANY)
        with _at_desk(given, "purge", as_json) as desk:
            told = desk.purge(run, confirmed=confirmed)
    else:
        if workspace is None or status is None or age_s is None:
            raise click.UsageError(_ONE_OR_MANY)
        with _at_desk(given, "purge", as_json) as desk:
            told = desk.purge_idle(workspace, status, age_s, confirmed=confirmed)
    if told["bytesErased"] is False:
        failure = PartialFailure("bytes_left")
        leave(_operation("purge"), failure, sentence(failure), as_json=as_json)
    _tell("purge", told, as_json, ledger_text.purged)


@contextmanager
def _at_desk(given: flags.Given, command: str, as_json: bool) -> Iterator[LedgerDesk]:
    """The ledgers of the store, opened for one command; what goes wrong is told and ends the command."""
    from hivekeep.agent.ledger_desk import LedgerDesk

    with opened_store(given, _operation(command), as_json=as_json) as store:
        yield LedgerDesk(store.engine, store.author)


def _tell(command: str, told: Data, as_json: bool, text: Show) -> None:
    tell(_operation(command), told, text, as_json=as_json)


def _operation(command: str) -> str:
    return f"{_GROUP}.{command}"
