"""The session pack: what agents did in their sessions.

Invariant: one module a topic; the class only says which function answers which verb, and which rules its notes have.
"""

from collections.abc import Mapping

from hivekeep.packs.note_rules import NoteRules
from hivekeep.packs.session import export, listing, resume, rules, search, sizes, store
from hivekeep.storage.sessions import KIND


class SessionPack:
    """The handlers that `hivekeep_contract.handlers.session.SessionHandlers` asks for."""

    note_rules: Mapping[str, NoteRules] = {KIND: rules.SessionRules()}

    export = staticmethod(export.export)
    list_ = staticmethod(listing.list_sessions)
    resume = staticmethod(resume.resume)
    search = staticmethod(search.search)
    stats = staticmethod(sizes.stats)
    store = staticmethod(store.store)
    vacuum = staticmethod(sizes.vacuum)
