"""Commands that tell a program as well when they were called in a way that they do not take.

What it keeps true: with `--json` a wrong call leaves one envelope on standard output, beside the lines for a person on
standard error. What prints it is imported then only, because most calls are right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click


class ProcessCommand(click.Command):
    """A command about the server's process; its name is that of its operation in the contract."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        from hivekeep_contract.gateway import PROCESS_OPERATIONS

        with _told(PROCESS_OPERATIONS[str(self.name)], args):
            return super().parse_args(ctx, args)


class JsonGroup(click.Group):
    """A group whose commands all take `--json`; its name is that of the operation in their envelopes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the arguments name."""
        with _told(str(self.name), ctx.args):
            return super().invoke(ctx)


@contextmanager
def _told(operation: str, args: Sequence[str]) -> Iterator[None]:
    """Answer a wrong call with an envelope of `operation` when the arguments ask for one; click tells the rest."""
    asked_json = "--json" in args  # click takes the arguments from the list as it reads them
    try:
        yield
    except click.UsageError:
        if asked_json:
            from hivekeep.cli import envelopes

            envelopes.print_wrong_call(operation)
        raise
