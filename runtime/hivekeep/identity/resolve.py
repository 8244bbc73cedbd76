"""From what a caller wrote to the one record it means.

Invariant: a reference leads to exactly one record or to an error; there is never a silent pick. A full UUID is direct
identity in every namespace, a prefix looks into every namespace, a name into the caller's primary one.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import classify
from hivekeep.storage import entities, records
from hivekeep.storage.engine import Tx
from hivekeep.storage.records import Located
from hivekeep_contract.errors import Ambiguous, NotFound
from hivekeep_contract.limits import AMBIGUOUS_SHOWN

EVERY_SUBSTRATE = tuple(records.TABLES)
SHORT_ID_CHARS = 8


class Wanted(NamedTuple):
    """What a parameter accepts: its name for messages, the substrates, and whether deleted records and names count.

    `namespaces` bounds full ids and prefixes; None looks into all of them.
    """

    param: str
    substrates: Sequence[str] = EVERY_SUBSTRATE
    include_deleted: bool = False
    by_name: bool = True
    namespaces: Sequence[str] | None = None


def resolve(tx: Tx, text: str, wanted: Wanted, caller: Caller) -> Located:
    """The record a reference means.

    Raises NotFound when there is none, Ambiguous with the candidates when there are several.
    """
    ref = classify(text)
    if ref.form == "uuid":
        return _direct(tx, ref.text, wanted)
    if ref.form == "prefix":
        return _by_prefix(tx, ref.text, wanted)
    if wanted.by_name and "entity" in wanted.substrates:
        return _by_name(tx, text, wanted, caller)
    raise _missing(text, wanted)


def _direct(tx: Tx, record_id: str, wanted: Wanted) -> Located:
    found = records.locate(tx, record_id)
    if found is None or found.substrate not in wanted.substrates:
        raise _missing(record_id, wanted)
    if wanted.namespaces is not None and found.namespace not in wanted.namespaces:
        raise _missing(record_id, wanted)
    if found.deleted_at is not None and not wanted.include_deleted:
        raise _missing(record_id, wanted)
    return found


def _by_prefix(tx: Tx, prefix: str, wanted: Wanted) -> Located:
    matches = records.find_prefix(tx, prefix, wanted.substrates, wanted.include_deleted, namespaces=wanted.namespaces)
    if not matches:
        raise _missing(prefix, wanted)
    if len(matches) > 1:
        raise _ambiguous(
            prefix, wanted, (f"{record_id} ({substrate})" for substrate, record_id in matches), len(matches)
        )
    return _direct(tx, matches[0][1], wanted)


def _by_name(tx: Tx, name: str, wanted: Wanted, caller: Caller) -> Located:
    found = entities.find_by_name(tx, caller.namespace, name, limit=AMBIGUOUS_SHOWN)
    if not found:
        raise _missing(name, wanted)
    if len(found) > 1:
        shown = (f"{row.id[:SHORT_ID_CHARS]} ({row.kind})" for row in found)
        raise _ambiguous(name, wanted, shown, entities.count_by_name(tx, caller.namespace, name))
    row = found[0]
    return Located("entity", row.id, row.namespace, row.kind, None)


def _missing(ref: str, wanted: Wanted) -> NotFound:
    return NotFound(f"{wanted.param}: not found: {ref}", details={"param": wanted.param, "id": ref})


def _ambiguous(ref: str, wanted: Wanted, candidates: Iterable[str], count: int) -> Ambiguous:
    shown = [candidate for candidate, _ in zip(candidates, range(AMBIGUOUS_SHOWN), strict=False)]
    more = f" and {count - len(shown)} more" if count > len(shown) else ""
    return Ambiguous(
        f"{wanted.param}: {ref!r} fits {count} records: {', '.join(shown)}{more}; give more digits or a full UUID",
        details={"ref": ref, "count": count},
    )
