"""What every command does alike: options that are settings, one line for an error, results on standard output.

What it keeps true: standard output carries the result and nothing else; an error is one line on standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import click

from hivekeep.cli import flags
from hivekeep_contract.errors import HivekeepError
from hivekeep_contract.settings import Setting

FAILED = 1
USAGE = 2

Command = TypeVar("Command", bound=Callable[..., Any])


def settings_options(accepted: Sequence[Setting], *, judged_later: bool = False) -> Callable[[Command], Command]:
    """Options for the settings in `accepted`, handed to the command as `given`: texts by setting key.

    `judged_later`: a value that is none of the choices is no usage error here; loading the settings refuses it.
    """

    def decorate(command: Command) -> Command:
        for setting in reversed(accepted):
            command = _option(setting, judged_later)(command)
        return command

    return decorate


def _option(setting: Setting, judged_later: bool) -> Callable[[Command], Command]:
    def note(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        given = context.ensure_object(dict)
        for text in value if setting.type == "list" else (value,):
            if text is not None and text is not False:
                flags.add(given, setting, "true" if text is True else text)

    kind: dict[str, Any] = {"type": str}
    if setting.choices:
        kind = (
            {"metavar": f"[{'|'.join(setting.choices)}]"} if judged_later else {"type": click.Choice(setting.choices)}
        )
    if setting.type == "boolean":
        kind = {"is_flag": True}
    elif setting.type == "list":
        kind["multiple"] = True
    return click.option(str(setting.flag), help=setting.doc, expose_value=False, callback=note, **kind)


@contextmanager
def told_errors() -> Iterator[None]:
    """Tell an error of the program in one line on standard error and leave with its status."""
    from hivekeep.doors.private import RuntimeRefused

    try:
        yield
    except RuntimeRefused as refusal:
        fail(str(refusal), refusal.failure.exit_status)
    except HivekeepError as error:
        fail(str(error), USAGE if error.kind == "invalid_input" else FAILED)


def fail(message: str, status: int) -> NoReturn:
    click.echo(f"hivekeep: {message}", err=True)
    sys.exit(status)


def print_json(value: Any) -> None:
    """One JSON value on standard output: indented for a person at a terminal, one line for a program."""
    print_line(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def print_line(text: str) -> None:
    """A text and a line end on standard output. When that fails the program ends with a line that says so."""
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # click leaves quietly: the reader has seen enough
    except OSError as fault:
        # What is left in the buffer would be tried, and would fail, once more at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(f"standard output: {fault.strerror}; what was asked for has been done", FAILED)
