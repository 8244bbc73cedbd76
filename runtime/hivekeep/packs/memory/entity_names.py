"""Entity names: which names a recall is about, and whether a memory mentions one.

Invariant: names that the caller gives replace the automatic ones, also when there are none; looking a name up never
makes a recall fail.
"""

import itertools
import re
from collections.abc import Iterable, Sequence

from hivekeep.packs.memory.queries import is_cjk
from hivekeep.storage import entities
from hivekeep.storage.engine import Tx
from hivekeep_contract.limits import RECALL_ENTITY_LOOKUPS_MAX, STOP_WORDS

_FUNCTION_WORDS = frozenset(STOP_WORDS)
_PUNCTUATION = re.compile(r"^\W+|\W+$")


def names_in(tx: Tx, query: str, namespaces: Sequence[str]) -> tuple[str, ...]:
    """The names that a query is about, in lower case: those of its words, and pairs of them, that entities are called.

    They are looked up together, in the namespaces of the recall. A capital letter alone makes no name: that rule, which
    others have, made the order worse (docs/retrieval.md).
    """
    words = [bare for word in query.split() if (bare := _PUNCTUATION.sub("", word))]
    candidates = list(dict.fromkeys(_single_and_pairs([word.lower() for word in words])))[:RECALL_ENTITY_LOOKUPS_MAX]
    return tuple(dict.fromkeys(entities.known_names(tx, namespaces, candidates)))


def given_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names of a caller in lower case, without blank ones and doubles."""
    return tuple(dict.fromkeys(plain for name in names if (plain := name.strip().lower())))


def _single_and_pairs(words: Sequence[str]) -> list[str]:
    singles = [word for word in words if word not in _FUNCTION_WORDS]
    return singles + [f"{first} {second}" for first, second in itertools.pairwise(words)]


class Mentions:
    """Tells whether a text mentions one of some names."""

    def __init__(self, names: Sequence[str]) -> None:
        """`names`: in lower case, none of them blank."""
        self._pattern = re.compile("|".join(map(_pattern_of, names))) if names else None

    def in_text(self, content: str) -> bool:
        """Whether a name stands in the text with nothing alphanumeric on either side; a CJK one stands anywhere."""
        return self._pattern is not None and self._pattern.search(content.lower()) is not None


def _pattern_of(name: str) -> str:
    plain = re.escape(name)
    if all(map(is_cjk, name)):
        return plain
    return rf"(?<![^\W_]){plain}(?![^\W_])"
