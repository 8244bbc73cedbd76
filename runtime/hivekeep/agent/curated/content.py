"""What an entry says at one revision, read from JSON and told apart by its hash.

Invariant: content that was read is complete and canonical, so equal content has an equal hash whatever its spelling
was: keys in any order, tags repeated, unsorted or decomposed, integral floats (gateway rules, memory model).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from hivekeep.agent import canonical
from hivekeep.agent.curated import checks, scopes, secrecy
from hivekeep.normal_form import normal_form
from hivekeep.storage.agent_revisions import RevisionRow
from hivekeep.storage.json_text import load_object, load_tags
from hivekeep_contract.gateway import PROVENANCE_LISTS, PROVENANCE_TEXTS
from hivekeep_contract.limits import (
    ENTRY_BODY_MAX,
    ENTRY_PATHS_MAX,
    ENTRY_REFERENCE_MAX,
    ENTRY_SUMMARY_MAX,
    ENTRY_TAG_MAX,
    ENTRY_TAGS_MAX,
    ENTRY_TITLE_MAX,
)
from hivekeep_contract.vocabulary import ENUMS

KINDS: Final = ENUMS["gateway.entry_kind"]
REQUIRED: Final = ("kind", "title", "body")

_PROVENANCE: Final = frozenset(("type", "reference", "timestamp", *PROVENANCE_TEXTS, *PROVENANCE_LISTS))


class Content(NamedTuple):
    """What an entry says. `scope` and `provenance` are JSON objects, `tags` sorted and each there once."""

    kind: str
    title: str
    body: str
    summary: str | None
    scope: dict[str, Any]
    provenance: dict[str, Any]
    tags: tuple[str, ...]

    @property
    def hash(self) -> str:
        """The SHA-256 by which content is told apart."""
        return canonical.digest({**self._asdict(), "tags": list(self.tags)})


FIELDS: Final = frozenset(Content._fields)


def read(value: object, field: str = "") -> Content:
    """The same as `parse`. Raises SecurityRejection as well, when a text or key holds what looks like a credential."""
    content = parse(value, field)
    refuse_secrets(content, field)
    return content


def parse(value: object, field: str = "") -> Content:
    """The content of a JSON object with these fields and no others; `field` is the pointer to it.

    `kind`, `title` and `body` are needed; a summary that is null, and what is left out, says nothing. Whoever calls
    this looks for credentials elsewhere. Raises ValidationError.
    """
    given = checks.members(value, field, FIELDS)
    checks.required(given, field, REQUIRED)
    summary = given.get("summary")
    return Content(
        kind=checks.word(given["kind"], f"{field}/kind", KINDS),
        title=checks.text(given["title"], f"{field}/title", most=ENTRY_TITLE_MAX),
        body=checks.text(given["body"], f"{field}/body", most=ENTRY_BODY_MAX, blank=True),
        summary=None if summary is None else checks.text(summary, f"{field}/summary", most=ENTRY_SUMMARY_MAX),
        scope=scopes.read(given.get("scope", {}), f"{field}/scope"),
        provenance=_provenance(given.get("provenance", {}), f"{field}/provenance"),
        tags=_tags(given.get("tags", []), f"{field}/tags"),
    )


def of_revision(row: RevisionRow) -> Content:
    """The content of a stored revision."""
    return Content(
        kind=row.kind,
        title=row.title,
        body=row.body,
        summary=row.summary,
        scope=load_object(row.scope),
        provenance=load_object(row.provenance),
        tags=tuple(load_tags(row.tags)),
    )


def refuse_secrets(content: Content, field: str = "") -> None:
    """Raise SecurityRejection, which names the field alone, when content holds what looks like a credential."""
    secrecy.refuse((f"{field}/{name}", value) for name, value in content._asdict().items())


def _tags(value: object, field: str) -> tuple[str, ...]:
    return tuple(sorted({_tag(tag, field) for tag in checks.items(value, field, most=ENTRY_TAGS_MAX)}))


def _tag(value: object, field: str) -> str:
    """A tag as it is kept: composed, so that two that look alike are one. Composing may make it longer."""
    composed = normal_form("NFC", checks.text(value, field, most=ENTRY_TAG_MAX).strip())
    return checks.text(composed, field, most=ENTRY_TAG_MAX)


def _provenance(value: object, field: str) -> dict[str, Any]:
    """Where content comes from: nothing, or a type with a reference and what else is known."""
    given = checks.members(value, field, _PROVENANCE)
    if not given:
        return given
    checks.required(given, field, ("type", "reference"))
    checks.identifier(given["type"], f"{field}/type")
    checks.text(given["reference"], f"{field}/reference", most=ENTRY_REFERENCE_MAX)
    for name in PROVENANCE_TEXTS:
        if name in given:
            checks.identifier(given[name], f"{field}/{name}")
    for name, is_path in PROVENANCE_LISTS.items():
        _check_list(given.get(name, []), f"{field}/{name}", is_path=is_path)
    if "timestamp" in given:
        checks.formatted(given["timestamp"], f"{field}/timestamp", checks.MOMENT_FORMAT)
    return given


def _check_list(value: object, field: str, *, is_path: bool) -> None:
    for item in checks.items(value, field, most=ENTRY_PATHS_MAX):
        if is_path:
            checks.relative_path(item, field, most=ENTRY_REFERENCE_MAX)
        else:
            checks.identifier(item, field)
