"""What a write does for the vectors of its record.

Invariant: only text is bounded and stored here, in the transaction of the record; no model runs. The warning of a cut
text and what the model later gets come from the same `prepare`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from hivekeep.search.embedders import Embedder
from hivekeep.search.embedders.source import embedding_text
from hivekeep.storage import embedding_queue
from hivekeep.storage.embedding_queue import QueueRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.vectors import source_hash

if TYPE_CHECKING:
    from hivekeep_contract.models.kg import Warning as Advice

TRUNCATED: Final = "embedding_truncated"


def enqueue(
    tx: Tx,
    embedders: Iterable[Embedder],
    substrate: str,
    row: EntityRow | NoteRow,
    override: str | None,
    now_us: int,
) -> "list[Advice]":
    """See `Context.embed`: one row of the queue for each embedder, and a warning for each that takes a part only."""
    body = row.description if isinstance(row, EntityRow) else row.content
    text = embedding_text(row.name, override or body)
    if not text:
        embedding_queue.remove(tx, substrate, row.seq)
        return []
    warnings: list[Advice] = []
    of_source = source_hash(row.name, body)
    for embedder in embedders:
        prepared = embedder.prepare(text)
        embedding_queue.put(
            tx, QueueRow(embedder.name, substrate, row.seq, row.namespace, row.kind, of_source, prepared.input, now_us)
        )
        if prepared.discarded_bytes:
            warnings.append(_truncated(embedder.name, prepared.discarded_bytes))
    return warnings


def _truncated(model: str, discarded_bytes: int) -> "Advice":
    return {
        "code": TRUNCATED,
        "message": (
            f"the embedder {model} looks at the beginning of this text only and leaves out its last {discarded_bytes} "
            "bytes; the record and its text index hold all of it"
        ),
        "embedding_model": model,
        "discarded_bytes": discarded_bytes,
    }
