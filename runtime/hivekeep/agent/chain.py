"""The chain of hashes that makes the ledger of a run one piece.

Invariant: the hash of an event covers every column of it and the hash in front of it, so no event can be changed, left
out, moved or added without breaking every hash behind it.
"""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring as _text
from typing import Final

from hivekeep.agent.canonical import ts
from hivekeep.storage.agent_events import LedgerRow
from hivekeep_contract.gateway import LEDGER_PROTOCOL

_NULL: Final = "null"
_PROTOCOL: Final = _text(LEDGER_PROTOCOL)


def event_hash(run_id: str, row: LedgerRow) -> str:
    """SHA-256 of the preimage of an event, 64 hex digits; the `event_hash` of the row itself does not count."""
    return hashlib.sha256(preimage(run_id, row)).hexdigest()


def preimage(run_id: str, row: LedgerRow) -> bytes:
    """The canonical JSON of an event with its protocol tag and run (gateway rules, hash chain).

    Absent fields are null. The names stand in the order of canonical JSON, and payload and redaction list are
    canonical text already, so nothing is serialized a second time.
    """
    text = (
        f'{{"actor":{_text(row.actor)},"eventId":{_text(row.event_id)},"eventType":{_text(row.event_type)}'
        f',"ingestedAt":"{ts(row.ingested_at)}","occurredAt":"{ts(row.occurred_at)}"'
        f',"outcome":{_optional(row.outcome)},"payload":{row.payload}'
        f',"previousHash":{_text(row.previous_hash)},"protocol":{_PROTOCOL},"redaction":{row.redaction}'
        f',"runId":{_text(run_id)},"sequence":{row.sequence}'
        f',"sourceEventId":{_optional(row.source_event_id)}'
        f',"sourceSequence":{_NULL if row.source_sequence is None else row.source_sequence}'
        f',"sourceType":{_optional(row.source_type)}}}'
    )
    return text.encode("utf-8", "surrogatepass")


def _optional(text: str | None) -> str:
    return _NULL if text is None else _text(text)
