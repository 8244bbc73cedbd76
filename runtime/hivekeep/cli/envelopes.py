"""The output of commands that belong to the gateway: one envelope for a program, sentences for a person.

What it keeps true: with `--json` standard output carries exactly one line, an envelope, whether the command succeeded
or failed; every failure is also told in one line on standard error, and its exit status is that of the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from hivekeep import compact_json
from hivekeep.cli.common import fail, print_line
from hivekeep.doors import gateway
from hivekeep.doors.private import RuntimeRefused
from hivekeep_contract.errors import HivekeepError
from hivekeep_contract.gateway_errors import REASONS, DatabaseError, GatewayError, UsageError, ValidationError


@contextmanager
def told_failures(operation: str, *, as_json: bool) -> Iterator[None]:
    """Tell why the command failed, and leave with the status of the failure."""
    try:
        yield
    except GatewayError as failure:
        leave(operation, failure, sentence(failure), as_json=as_json)
    except RuntimeRefused as refusal:
        leave(operation, refusal.failure(refusal.reason), str(refusal), as_json=as_json)
    except HivekeepError as error:
        is_setting = error.kind == "invalid_input"
        found = ValidationError("bad_setting") if is_setting else DatabaseError("store_unavailable")
        leave(operation, found, str(error), as_json=as_json)


def leave(operation: str, failure: GatewayError, told: str, *, as_json: bool) -> NoReturn:
    """End the command with a failure; `told` is the line for a person."""
    if as_json:
        print_envelope(gateway.failure(operation, failure))
    fail(told, failure.exit_status)


def sentence(failure: GatewayError) -> str:
    """What a failure is, in the words of the contract."""
    return told(type(failure), failure.details)


def told(failure: type[GatewayError], details: Mapping[str, Any]) -> str:
    """The message of a failure, its reason as a sentence, and which field is meant or how long to wait."""
    reason = REASONS.get(details.get("reason", ""), "")
    place = f" ({details['field']})" if "field" in details else ""
    wait = f"; try again in {details['retryAfterSeconds']} s" if "retryAfterSeconds" in details else ""
    return f"{failure.message}{': ' if reason else ''}{reason}{place}{wait}"


def tell(operation: str, data: Mapping[str, Any], text: Callable[[Mapping[str, Any]], str], *, as_json: bool) -> None:
    """The success of a command: an envelope, or its data as `text` puts them for a person."""
    if as_json:
        print_envelope(gateway.success(operation, data))
    else:
        print_line(text(data))


def print_wrong_call(operation: str) -> None:
    """The envelope of a command that was called in a way that it does not take."""
    print_envelope(gateway.failure(operation, UsageError("bad_usage")))


def print_envelope(envelope: Mapping[str, Any]) -> None:
    """One line on standard output."""
    print_line(compact_json.dump(envelope))
