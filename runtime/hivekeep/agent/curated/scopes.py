"""The scope of an entry: any JSON object, or a structured one that says for whom, where and by which signals.

Invariant: an object that names a schema version is structured and has every part of the structured form right (gateway
rules, structured scope).
"""

from __future__ import annotations

from typing import Any, Final

from hivekeep.agent import canonical
from hivekeep.agent.curated import checks
from hivekeep_contract.gateway import (
    APPLICABILITY_FIELDS,
    FRAMEWORK_FIELDS,
    MEMORY_CLASSES,
    SCOPE_FIELDS,
    SCOPE_VISIBILITIES,
    SIGNAL_FIELDS,
)
from hivekeep_contract.gateway_errors import ValidationError
from hivekeep_contract.limits import (
    ENTRY_SCOPE_DEPTH_MAX,
    ENTRY_SCOPE_ITEMS_MAX,
    ENTRY_SCOPE_MAX_BYTES,
    ENTRY_SCOPE_TEXT_MAX,
    ENTRY_SCOPE_VERSION,
)

_VERSION: Final = "schemaVersion"
_GLOBAL: Final = "global"


def read(value: object, field: str) -> dict[str, Any]:
    """The scope of an entry. Raises ValidationError."""
    if not isinstance(value, dict):
        raise ValidationError("wrong_type", field=field)
    # The object itself is the first level.
    checks.free_json(value, field, depth=ENTRY_SCOPE_DEPTH_MAX)
    if len(canonical.canonical(value)) > ENTRY_SCOPE_MAX_BYTES:
        raise ValidationError("too_large", field=field)
    if _VERSION in value:
        _check_structured(value, field)
    return value


def _check_structured(scope: dict[str, Any], field: str) -> None:
    if scope[_VERSION] != ENTRY_SCOPE_VERSION or isinstance(scope[_VERSION], bool):
        raise ValidationError("wrong_value", field=f"{field}/{_VERSION}")
    checks.members(scope, field, SCOPE_FIELDS)
    checks.required(scope, field, ("visibility",))
    visibility = checks.word(scope["visibility"], f"{field}/visibility", SCOPE_VISIBILITIES)
    if "repositoryId" in scope:
        checks.identifier(scope["repositoryId"], f"{field}/repositoryId")
    if "memoryClass" in scope:
        checks.word(scope["memoryClass"], f"{field}/memoryClass", MEMORY_CLASSES)
    if "portableReason" in scope:
        checks.text(scope["portableReason"], f"{field}/portableReason", most=ENTRY_SCOPE_TEXT_MAX)
    applies = _check_applicability(scope.get("applicability", {}), f"{field}/applicability")
    _check_signals(scope.get("signals", {}), f"{field}/signals")
    if visibility == _GLOBAL and not applies and "portableReason" not in scope:
        # What holds everywhere must say where that is, or why.
        raise ValidationError("field_missing_for", field=f"{field}/portableReason")


def _check_applicability(value: object, field: str) -> bool:
    """Check the lists; answers whether any of them says something."""
    lists = checks.members(value, field, APPLICABILITY_FIELDS)
    for name, listed in lists.items():
        for item in checks.items(listed, f"{field}/{name}", most=ENTRY_SCOPE_ITEMS_MAX):
            if name == "frameworks":
                _check_framework(item, f"{field}/{name}")
            else:
                checks.text(item, f"{field}/{name}", most=ENTRY_SCOPE_TEXT_MAX)
    return any(lists.values())


def _check_framework(value: object, field: str) -> None:
    framework = checks.members(value, field, FRAMEWORK_FIELDS)
    checks.required(framework, field, [name for name, needed in FRAMEWORK_FIELDS.items() if needed])
    for name, text in framework.items():
        checks.text(text, f"{field}/{name}", most=ENTRY_SCOPE_TEXT_MAX)


def _check_signals(value: object, field: str) -> None:
    for name, listed in checks.members(value, field, SIGNAL_FIELDS).items():
        of_kind = checks.relative_path if name == "paths" else checks.text
        for item in checks.items(listed, f"{field}/{name}", most=ENTRY_SCOPE_ITEMS_MAX):
            of_kind(item, f"{field}/{name}", most=ENTRY_SCOPE_TEXT_MAX)
