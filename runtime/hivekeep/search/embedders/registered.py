"""Which embedders a server has.

Invariant: the settings decide, and what cannot work here is left out with its reason; a program without any embedder
is a whole program that searches by words.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from hivekeep.search.embedders import hashed, minilm
from hivekeep.search.embedders.protocol import Embedder
from hivekeep_contract.errors import EmbedderUnavailable, InvalidInput
from hivekeep_contract.limits import EMBEDDING_QUERY_VECTORS_KEPT
from hivekeep_contract.settings import Settings

_log = logging.getLogger(__name__)

NONE: Final = "none"
"""The word of the settings for no embedder."""


class Embedders:
    """The registered embedders, in the order of the settings.

    `absent` says of each embedder that the settings name and that cannot work here why, and what helps.
    """

    def __init__(self, registered: Sequence[Embedder] = (), absent: Mapping[str, str] | None = None) -> None:
        self._registered = {embedder.name: embedder for embedder in registered}
        self.absent: Mapping[str, str] = absent or {}
        self._asking = threading.Lock()
        self._vectors: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._registered)

    def __iter__(self) -> Iterator[Embedder]:
        return iter(self._registered.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What callers may call them."""
        return tuple(self._registered)

    @property
    def default(self) -> Embedder | None:
        """The one that answers a query which names none; None when there is no embedder."""
        return next(iter(self), None)

    def get(self, name: str) -> Embedder:
        """The embedder of a name; raises InvalidInput that lists the names."""
        found = self._registered.get(name)
        if found is None:
            accepted = ", ".join(self._registered) or "none, because no embedder is configured (embedding.models)"
            raise InvalidInput(f"embedding model {name!r} is not registered; registered: {accepted}")
        return found

    def is_ready(self, size: Callable[[], int]) -> bool:
        """Whether no `prepare` reads a file for texts of that many bytes; `size` is asked only if it matters."""
        unready = [embedder for embedder in self if not embedder.is_ready(sys.maxsize)]
        return not unready or all(embedder.is_ready(size()) for embedder in unready)

    def make_ready(self, size: int) -> None:
        """Load what `prepare` needs for texts of that many bytes; call it outside of transactions.

        An embedder that cannot load it is taken out: the write goes on, and the record is found by its words.
        """
        for embedder in list(self):
            try:
                embedder.make_ready(size)
            except EmbedderUnavailable as reason:
                _log.warning("%s", reason.message)
                self._registered = {name: other for name, other in self._registered.items() if other is not embedder}
                self.absent = {**self.absent, embedder.name: reason.message}

    def query_vector(self, name: str, text: str) -> bytes:
        """The vector of a query; the vectors of the latest queries are kept.

        Raises InvalidInput for a name that is not registered, and EmbedderUnavailable.
        """
        embedder = self.get(name)
        key = (name, embedder.prepare(text).input)
        with self._asking:
            if key in self._vectors:
                self._vectors.move_to_end(key)
                return self._vectors[key]
        (vector,) = embedder.embed([key[1]])
        with self._asking:
            self._vectors[key] = vector
            if len(self._vectors) > EMBEDDING_QUERY_VECTORS_KEPT:
                self._vectors.popitem(last=False)
        return vector


def load_embedders(settings: Settings) -> Embedders:
    """The embedders that the settings name; raises InvalidInput for settings that contradict each other."""
    names = tuple(dict.fromkeys(settings.embedding_models))
    if NONE in names and len(names) > 1:
        raise InvalidInput(f"embedding.models: {NONE!r} stands alone, not beside {', '.join(set(names) - {NONE})}")
    registered: list[Embedder] = []
    absent: dict[str, str] = {}
    for name in names:
        if name == NONE:
            continue
        made = _MAKERS[name](settings)
        if isinstance(made, str):
            absent[name] = made
        else:
            registered.append(made)
    return Embedders(registered, absent)


def _minilm(settings: Settings) -> Embedder | str:
    return minilm.missing() or minilm.MiniLmEmbedder(settings.embedding_threads)


def _openai(settings: Settings) -> Embedder:
    from hivekeep.search.embedders import openai

    return openai.OpenAiEmbedder(openai.endpoint(settings))


def _hashed(_settings: Settings) -> Embedder:
    return hashed.HashedEmbedder()


_MAKERS: Final[Mapping[str, Callable[[Settings], Embedder | str]]] = {
    minilm.NAME: _minilm,
    "openai": _openai,
    hashed.NAME: _hashed,
}
