"""The capability catalog of a request: what a client says it can do, read once, bound to its run and forgotten.

Invariant: what a catalog holds is never a reason to refuse a request. What is malformed or too much is dropped and
counted, and then the catalog is `unknown`: a capability that it does not name may still be there. Of a catalog only its
digest outlives the request; names and descriptions are sanitised before anything is made of them. Two catalogs with the
same items, in any order and however often, have one digest; no catalog, a malformed one and an empty one have three.

(gateway rules, capability catalog)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard, cast

from hivekeep.agent.canonical import digest
from hivekeep.gate.redaction import sanitise
from hivekeep.normal_form import normal_form
from hivekeep.storage.agent_runs import RunRow
from hivekeep_contract.gateway import CATALOG_WARNINGS
from hivekeep_contract.gateway_errors import Conflict, IntegrityError, ValidationError
from hivekeep_contract.limits import (
    CATALOG_BINDING_KEY,
    CATALOG_BINDING_VERSION,
    CATALOG_DESCRIPTION_MAX,
    CATALOG_DESCRIPTION_RAW_MAX,
    CATALOG_ITEMS_MAX,
    CATALOG_NAME_MAX,
    CATALOG_RAW_MAX,
)
from hivekeep_contract.models import gateway as models
from hivekeep_contract.vocabulary import ENUMS

METADATA = "/metadata"
CATALOG = "/capabilities"

_KINDS = ENUMS["gateway.capability_kind"]
_FIELDS = frozenset({"kind", "name", "description"})
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_INVISIBLE = frozenset({"Cc", "Cf"})
"""Unicode categories of control and format characters."""
_PIECE = 512
"""Characters that are normalised at a time."""


class Capability(NamedTuple):
    """One item as it counts: the description is normalised, sanitised and short, or None."""

    kind: models.CapabilityKind
    name: str
    description: str | None


class Catalog(NamedTuple):
    """A catalog as it was read.

    `items` are unique and sorted. `diagnostics` counts what was sent; `unique` counts what the digest is of, where an
    exact duplicate of an item is no further item.
    """

    supplied: bool
    availability: models.Availability
    budget_exceeded: bool
    diagnostics: models.Diagnostics
    unique: models.Diagnostics
    items: tuple[Capability, ...]

    @property
    def known(self) -> bool:
        """Whether what the catalog does not name is not there."""
        return self.availability != "unknown"


class _Read(NamedTuple):
    """One accepted item and whether its description was shortened or left out."""

    item: Capability
    truncated: bool


# reading


def read_catalog(value: Any, *, supplied: bool) -> Catalog:
    """The catalog of a request; `supplied` says whether it had one at all. Never raises for what `value` is."""
    if not supplied or not isinstance(value, list):
        return _catalog(supplied, None, [], False)
    within, exceeded = _within_budget(value)
    return _catalog(supplied, len(value), _clean([read for item in within if (read := _item(item))]), exceeded)


def _within_budget(items: list[Any]) -> tuple[list[Any], bool]:
    """The leading items that the limits of a catalog admit, and whether its characters went beyond theirs."""
    spent = 0
    for place, item in enumerate(items[:CATALOG_ITEMS_MAX]):
        spent += _raw_characters(item)
        if spent > CATALOG_RAW_MAX:
            return items[:place], True
    return items[:CATALOG_ITEMS_MAX], False


def _raw_characters(item: Any) -> int:
    if not isinstance(item, Mapping):
        return 0
    return sum(len(text) for text in (item.get("name"), item.get("description")) if isinstance(text, str))


def _item(item: Any) -> _Read | None:
    """The item if it is well formed, else None."""
    if not isinstance(item, Mapping) or not item.keys() <= _FIELDS:
        return None
    name = item.get("name")
    if item.get("kind") not in _KINDS or not _is_name(name):
        return None
    kind = cast("models.CapabilityKind", item["kind"])
    if "description" not in item:
        return _Read(Capability(kind, name, None), False)
    text = item["description"]
    if not isinstance(text, str) or not _encodable(text):
        return None
    if len(text) > CATALOG_DESCRIPTION_RAW_MAX:
        return _Read(Capability(kind, name, None), True)
    kept, truncated = _shortened(_visible(_normalised(text)))
    return _Read(Capability(kind, name, kept or None), truncated)


def _is_name(name: Any) -> TypeGuard[str]:
    return (
        isinstance(name, str)
        and 1 <= len(name) <= CATALOG_NAME_MAX
        and name == name.strip()
        and _encodable(name)
        and not any(unicodedata.category(char) in _INVISIBLE for char in name)
    )


def _encodable(text: str) -> bool:
    """Whether the text is Unicode: half of a surrogate pair has no bytes to hash."""
    return not any("\ud800" <= char <= "\udfff" for char in text) if not text.isascii() else True


def _normalised(text: str) -> Iterator[str]:
    """The characters of the text in compatible composition (NFKC), a piece at a time.

    One character may become eighteen, so a text of which only the beginning is kept is not normalised in whole.
    """
    begin = 0
    while begin < len(text):
        end = begin + _PIECE
        while end < len(text) and not _stands_alone(text[end]):
            end += 1
        yield from normal_form("NFKC", text[begin:end])
        begin = end


def _stands_alone(char: str) -> bool:
    """Whether normalising never joins the character to one before it: marks and the later letters of Hangul do that."""
    first = unicodedata.normalize("NFKD", char)[0]
    return not unicodedata.category(first).startswith("M") and not "\u1160" <= first <= "\u11ff"


def _visible(characters: Iterator[str]) -> Iterator[str]:
    """The characters without invisible ones, each run of white space as one blank between words."""
    pending = begun = False
    for char in characters:
        if char.isspace():
            pending = begun
        elif char.isprintable() or unicodedata.category(char) not in _INVISIBLE:
            if pending:
                yield " "
            yield char
            pending, begun = False, True


def _shortened(characters: Iterator[str]) -> tuple[str, bool]:
    """The text, or its beginning and an ellipsis, and whether it was too long. Reads no more than it keeps."""
    kept: list[str] = []
    for char in characters:
        if len(kept) == CATALOG_DESCRIPTION_MAX:
            return "".join(kept[:-1]) + _ELLIPSIS, True
        kept.append(char)
    return "".join(kept), False


def _clean(reads: list[_Read]) -> list[_Read]:
    """The same without secrets, so that none is answered or hashed."""
    texts = [[read.item.name, read.item.description] for read in reads]
    cleaned = cast("list[list[str | None]]", sanitise(texts, workspace=None, home=None).value)
    return [
        _Read(Capability(read.item.kind, str(name), description), read.truncated)
        for read, (name, description) in zip(reads, cleaned, strict=True)
    ]


def _catalog(supplied: bool, received: int | None, reads: list[_Read], exceeded: bool) -> Catalog:
    """The catalog of the accepted items; `received` is None for what is no list."""
    sent = received or 0
    unique = {read.item for read in reads}
    truncated = {read.item for read in reads if read.truncated}
    dropped = sent - len(reads)
    availability: models.Availability = "known-nonempty" if reads else "known-empty"
    if received is None or dropped or exceeded:
        availability = "unknown"
    said = _diagnostics(sent, len(reads), sum(read.truncated for read in reads), dropped)
    counted = said if availability == "unknown" else _diagnostics(len(unique), len(unique), len(truncated), 0)
    return Catalog(supplied, availability, exceeded, said, counted, tuple(sorted(unique, key=_order)))


def _diagnostics(received: int, accepted: int, truncated: int, dropped: int) -> models.Diagnostics:
    return {"received": received, "accepted": accepted, "truncated": truncated, "dropped": dropped}


def _order(item: Capability) -> tuple[str, str, bool, str]:
    return item.kind, item.name, item.description is not None, item.description or ""


# what is said of it


def warnings(catalog: Catalog) -> list[models.CatalogWarningEntry]:
    """What the client is told of a catalog that could not be taken whole."""
    told: dict[models.CatalogWarning, bool] = {
        "CAPABILITY_CATALOG_COMPACTED": catalog.diagnostics["truncated"] > 0,
        "CAPABILITY_CATALOG_ITEMS_DROPPED": catalog.diagnostics["dropped"] > 0,
        "CAPABILITY_CATALOG_BUDGET_EXCEEDED": catalog.budget_exceeded,
        "CAPABILITY_CATALOG_UNAVAILABLE": catalog.supplied and not catalog.known,
    }
    return [{"code": code, "message": CATALOG_WARNINGS[code]} for code, holds in told.items() if holds]


# binding


def catalog_digest(catalog: Catalog) -> str:
    """What a run is bound to: a digest of all that the gate can see of a catalog (gateway rules, catalog digest)."""
    return digest(
        {
            "version": CATALOG_BINDING_VERSION,
            "supplied": catalog.supplied,
            "availability": catalog.availability,
            "diagnostics": catalog.unique,
            "budgetExceeded": catalog.budget_exceeded,
            "skills": _digested(catalog, "skill"),
            "tools": _digested(catalog, "mcp_tool"),
        }
    )


def _digested(catalog: Catalog, kind: models.CapabilityKind) -> list[dict[str, str | None]]:
    return [{"name": item.name, "description": item.description} for item in catalog.items if item.kind == kind]


def refuse_reserved(metadata: Mapping[str, Any]) -> None:
    """Refuse metadata of a client that speaks for the gateway; raises ValidationError."""
    if CATALOG_BINDING_KEY in metadata:
        raise ValidationError("reserved_key", field=METADATA)


def check_binding(run: RunRow, catalog: Catalog) -> None:
    """Check that a request brings the catalog that its run was opened with.

    Raises Conflict for another one and IntegrityError for a run that has lost its binding.
    """
    if run.binding_digest is None:
        raise IntegrityError("broken_record")
    if run.binding_digest != catalog_digest(catalog):
        raise Conflict("catalog_differs", field=CATALOG)
