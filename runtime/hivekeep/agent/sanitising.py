"""Sanitising as the operations need it: with the workspace of a run and the home folder of whoever runs the server.

Invariant: what an operation stores or hashes went through exactly one pass, before anything else is made of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypeVar, cast

from hivekeep.agent.canonical import canonical
from hivekeep.gate.credentials import holds_credential
from hivekeep.gate.redaction import Sanitised, sanitise
from hivekeep_contract.gateway_errors import SecurityRejection, ValidationError
from hivekeep_contract.limits import GATEWAY_PAYLOAD_MAX_BYTES

T = TypeVar("T")

HOME: Final = str(Path.home())


def with_list(workspace: str, value: Any) -> Sanitised:
    """A value without secrets and the list of what was taken out. Raises SecurityRejection for a key that is one."""
    return sanitise(value, workspace=workspace, home=HOME)


def clean(workspace: str, value: T) -> T:
    """The same value without secrets."""
    return cast(T, with_list(workspace, value).value)


def refuse_secret(text: str, field: str) -> None:
    """Raise SecurityRejection for a text that cannot be masked, because it names something, and looks like a secret."""
    if holds_credential(text):
        raise SecurityRejection("secret", field=field)


def check_size(value: Any, field: str) -> None:
    """Raise ValidationError for a part of a request whose canonical JSON is too large to keep."""
    if len(canonical(value)) > GATEWAY_PAYLOAD_MAX_BYTES:
        raise ValidationError("too_large", field=field)
