"""The kinds and endpoint rules that the loaded packs make together.

Invariant: packs only add; what the registry allows for every pack set stays allowed.
"""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from hivekeep.storage import records
from hivekeep_contract import vocabulary
from hivekeep_contract.errors import InvalidInput

_JOINERS = re.compile(r"[\s_-]+")
SUBSTRATES = tuple(records.TABLES)
ANY_KIND = "*"


class KindRef(NamedTuple):
    """What a `kind` argument names: a substrate, perhaps one kind of it, perhaps the subtype an alias implies."""

    substrate: str
    kind: str | None = None
    entity_type: str | None = None


class Ontology:
    """Kinds, subtypes and endpoint rules of one set of loaded packs."""

    def __init__(self, packs: Iterable[str]) -> None:
        """`packs`: names of the loaded packs."""
        loaded = tuple(packs)
        endpoints = set(vocabulary.ENDPOINTS)
        for pack in loaded:
            endpoints |= vocabulary.PACK_ENDPOINTS.get(pack, frozenset())
        self._endpoints = frozenset(endpoints)
        self.entity_kinds = _kinds(vocabulary.ENTITY_KINDS, loaded)
        self.note_kinds = _kinds(vocabulary.NOTE_KINDS, loaded)
        self._refs: dict[str, KindRef] = {}
        self.consumer_kinds = tuple(kind for pack in loaded for kind in vocabulary.CONSUMER_KINDS.get(pack, ()))
        self._spellings = {kind: kind for kind in self.entity_kinds} | {
            alias: kind for alias, kind in vocabulary.ENTITY_KIND_ALIASES.items() if kind in self.entity_kinds
        }
        self._subtypes = {
            kind: {spelling: name for name, aliases in subtypes.items() for spelling in (name, *aliases)}
            for kind, subtypes in vocabulary.ENTITY_SUBTYPES.items()
        }
        self._refs = {word: self.kind(word) for word in (*SUBSTRATES, *self._spellings, *self.note_kinds)}

    @property
    def kind_words(self) -> str:
        """All that a `kind` argument may be, for messages."""
        return ", ".join((*SUBSTRATES, *self.entity_kinds, *self.note_kinds))

    def kind(self, word: str) -> KindRef:
        """What a kind word names; raises InvalidInput that lists every valid word."""
        if (known := self._refs.get(word)) is not None:
            return known
        plain = word.strip()
        if plain in SUBSTRATES:
            return KindRef(plain)
        entity = self.entity_kind(plain)
        if entity is not None:
            return entity
        if plain in self.note_kinds:
            return KindRef("note", plain)
        raise InvalidInput(f"unknown kind {word!r}; accepted: {self.kind_words}")

    def entity_kind(self, word: str) -> KindRef | None:
        """An entity kind from its name or an alias, any case; an alias that is itself a subtype also implies it."""
        plain = word.strip().lower()
        kind = self._spellings.get(plain)
        if kind is None:
            return None
        implied = self._subtypes[kind].get(plain) if plain != kind else None
        return KindRef("entity", kind, implied)

    def one_kind(self, word: str, *, substrate: str, specific: str | None, param: str) -> KindRef:
        """The kind that `kind` and its compatibility argument (`entity_kind`, `note_kind`) name together.

        Raises InvalidInput when the compatibility argument is no kind of the substrate, or contradicts `kind`.
        """
        ref = self.kind(word)
        if specific is None:
            return ref
        if substrate == "entity":
            named = self.entity_kind(specific)
        else:
            named = KindRef("note", specific.strip()) if specific.strip() in self.note_kinds else None
        if named is None:
            accepted = self.entity_kinds if substrate == "entity" else self.note_kinds
            raise InvalidInput(f"unknown {param} {specific!r}; accepted: {', '.join(accepted)}")
        if ref.kind not in (None, named.kind):
            raise InvalidInput(f"{param}={specific!r} contradicts kind={word!r}; give one of them or let them agree")
        return KindRef(substrate, named.kind, named.entity_type or ref.entity_type)

    def entity_type(self, kind: str, word: str) -> str:
        """The governed subtype of a kind; raises InvalidInput that lists the valid ones or names their owner."""
        plain = _JOINERS.sub("_", word.strip().lower()).strip("_")
        found = self._subtypes[kind].get(plain)
        if found is not None:
            return found
        owners = [other for other, spellings in self._subtypes.items() if plain in spellings]
        valid = " | ".join(sorted(vocabulary.ENTITY_SUBTYPES[kind])) or "none"
        hint = f"; it is a type of {', '.join(owners)}" if owners else ""
        raise InvalidInput(f"unknown entity_type {word!r} for kind {kind}{hint}; accepted: {valid}")

    def any_entity_type(self, word: str) -> str:
        """The governed subtype a word names under some kind; raises InvalidInput when there is none."""
        plain = _JOINERS.sub("_", word.strip().lower()).strip("_")
        found = {spellings[plain] for spellings in self._subtypes.values() if plain in spellings}
        if len(found) == 1:
            return found.pop()
        if found:
            raise InvalidInput(
                f"entity_type {word!r} means {' or '.join(sorted(found))}, depending on the kind; give entity_kind"
            )
        valid = sorted({name for subtypes in vocabulary.ENTITY_SUBTYPES.values() for name in subtypes})
        raise InvalidInput(f"unknown entity_type {word!r}; accepted: {' | '.join(valid)}")

    def allows(self, relation: str, source_kind: str, target_kind: str) -> bool:
        """Whether the table lets the relation join two entity kinds in this order."""
        table = self._endpoints
        return (relation, source_kind, target_kind) in table or (relation, ANY_KIND, target_kind) in table


def _kinds(kinds: Iterable[str], loaded: Collection[str]) -> tuple[str, ...]:
    """The kinds that every store has, and those of the loaded packs."""
    owners = vocabulary.KIND_OWNERS
    return tuple(kind for kind in kinds if kind not in owners or owners[kind] in loaded)
