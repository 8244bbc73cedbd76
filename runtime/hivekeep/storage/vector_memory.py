"""Parts of the vectors held in memory: a search of one that does not change compares them all in one product.

Keeps true: a part is held with the stamps it was read under, and triggers replace a stamp with every change of its
vectors, whoever writes. What is held answers only a search whose own snapshot has those stamps, so it says what the
tables would have said, but for the last digit. Nothing is held before scanning has cost about what reading costs,
beyond a fixed size, or where numpy is not installed (ADR 0034).
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING, Any, Final

from hivekeep.storage.engine import Tx
from hivekeep.storage.vector_layout import DIGITS, FLOAT_BYTES, Model, Near, Part, statements
from hivekeep_contract.limits import VECTOR_EXACT_MAX, VECTOR_MEMORY_MAX_BYTES, VECTOR_SCANS_BEFORE_HELD

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NUMPY: Final = "numpy"
_FLOATS: Final = "<f4"
_HELD_BYTES: Final = 1024
"""What a part takes without its vectors, about."""
_PARTS_COUNTED: Final = 1024
"""Parts whose searches are counted at a time."""

_STAMPS: Final = "SELECT stamp FROM vector_stamps WHERE namespace = ? AND model_id = ? AND substrate = ?"
_STAMP_OF_KIND: Final = _STAMPS + " AND kind = ?"

Stamps = tuple[int, ...]
"""The stamps of the partitions of a part."""
Key = tuple[Model, Part]


class Held:
    """The vectors of a part as one matrix; never changed, so any thread may read it."""

    def __init__(self, stamps: Stamps, dims: int, rows: list[Any]) -> None:
        """`rows` are (seq, source hash, embedding of `dims` floats)."""
        import numpy as np

        matrix = np.frombuffer(b"".join(row[2] for row in rows), _FLOATS).reshape(-1, dims)
        lengths = np.linalg.norm(matrix, axis=1)
        told = lengths > 0
        self.stamps = stamps
        self._matrix = matrix[told] / lengths[told, None]
        self._seqs = np.array([row[0] for row in rows], np.int64)[told]
        self._hashes = np.array([row[1] for row in rows], np.int64)[told]
        self.size = _HELD_BYTES + self._matrix.nbytes + self._seqs.nbytes + self._hashes.nbytes

    def ranked(self, query: bytes, first: int) -> Iterator[Near]:
        """Every vector, best first and those alike by `seq`; the order behind the `first` is made when it is read."""
        import numpy as np

        wanted = np.frombuffer(query, _FLOATS)
        length = float(np.linalg.norm(wanted))
        if not 0 < length < inf or not len(self._seqs):
            return
        # Row by row on this thread: for a product of a matrix the library wakes threads, which spin on behind it.
        similarities = np.round(np.vecdot(self._matrix, wanted / length).astype(np.float64), DIGITS)
        if first >= len(similarities):
            yield from self._in_order(similarities, np.arange(len(similarities)))
            return
        edge = np.partition(similarities, -first)[-first]
        yield from self._in_order(similarities, np.flatnonzero(similarities >= edge))
        yield from self._in_order(similarities, np.flatnonzero(similarities < edge))

    def _in_order(self, similarities: NDArray[np.float64], places: NDArray[np.intp]) -> Iterator[Near]:
        import numpy as np

        order = places[np.lexsort((self._seqs[places], -similarities[places]))]
        columns = (self._seqs[order], similarities[order], self._hashes[order])
        return map(Near, *(column.tolist() for column in columns))


class VectorMemory:
    """The parts that one process holds, the ones longest unused let go first; any store, any thread."""

    def __init__(self, max_bytes: int = VECTOR_MEMORY_MAX_BYTES) -> None:
        self._lock = threading.Lock()
        self._max_bytes = max_bytes
        self._held: OrderedDict[Key, Held] = OrderedDict()
        self._scans: OrderedDict[Key, tuple[Stamps, int]] = OrderedDict()
        self._reading: set[Key] = set()

    def part(self, tx: Tx, model: Model, part: Part) -> Held | None:
        """What is held of a part as this snapshot has it; None means that its tables have to be searched.

        For parts of at most VECTOR_EXACT_MAX vectors. A model of which so many do not fit is never held.
        """
        if FLOAT_BYTES * model.dims * VECTOR_EXACT_MAX > self._max_bytes:
            return None
        stamps = _stamps(tx, model, part)
        key = (model, part)
        with self._lock:
            held = self._held.get(key)
            if held is not None and held.stamps == stamps:
                self._held.move_to_end(key)
                return held
            if not stamps or self._count(key, stamps) < VECTOR_SCANS_BEFORE_HELD:
                return None
            if key in self._reading or not _has_numpy():
                return None
            self._reading.add(key)
        try:
            return self._read(tx, key, stamps)
        finally:
            self._reading.discard(key)

    def clear(self) -> None:
        """Let everything go."""
        with self._lock:
            self._held.clear()
            self._scans.clear()

    @property
    def size(self) -> int:
        """Bytes of everything that is held."""
        return sum(held.size for held in self._held.values())

    def _count(self, key: Key, stamps: Stamps) -> int:
        """How often a part was searched since it last changed, this time included."""
        known, scans = self._scans.pop(key, (stamps, 0))
        scans = scans + 1 if known == stamps else 1
        self._scans[key] = stamps, scans
        if len(self._scans) > _PARTS_COUNTED:
            self._scans.popitem(last=False)
        return scans

    def _read(self, tx: Tx, key: Key, stamps: Stamps) -> Held | None:
        """Read a part; None when it changed since its stamps were read, which a reader without a snapshot may see."""
        model, part = key
        texts = statements(model)
        statement = texts.whole if part.kind is None else texts.whole_of_kind
        held = Held(stamps, model.dims, tx.all(statement, (model.id, *part.args())))
        if _stamps(tx, model, part) != stamps:
            return None
        with self._lock:
            self._held.pop(key, None)
            self._held[key] = held
            while self.size > self._max_bytes and len(self._held) > 1:
                let_go, _ = self._held.popitem(last=False)
                self._scans.pop(let_go, None)
        return held


VECTOR_MEMORY: Final = VectorMemory()


def _stamps(tx: Tx, model: Model, part: Part) -> Stamps:
    statement = _STAMPS if part.kind is None else _STAMP_OF_KIND
    return tuple(row[0] for row in tx.all(statement, (part.namespace, model.id, *part.args()[1:])))


def _has_numpy() -> bool:
    """Whether numpy is loaded; where it is only installed it is loaded behind the searches, for the next ones."""
    # A module stands there as soon as its import begins, and without what it will have.
    if hasattr(sys.modules.get(_NUMPY), "vecdot"):
        return True
    _load_numpy()
    return False


@cache
def _load_numpy() -> None:
    if find_spec(_NUMPY) is not None:
        threading.Thread(target=_import_numpy, name="import-numpy", daemon=True).start()


def _import_numpy() -> None:
    # One that cannot be imported is as good as none.
    with suppress(ImportError):
        import_module(_NUMPY)
