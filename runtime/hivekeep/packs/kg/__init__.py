"""The kg pack: entities, notes, edges and events.

Invariant: one module a topic; the class only says which function answers which verb.
"""

from hivekeep.packs.kg.about import scan, stats, verbs, whoami
from hivekeep.packs.kg.create import create
from hivekeep.packs.kg.delete import delete, restore
from hivekeep.packs.kg.get import get
from hivekeep.packs.kg.link import link
from hivekeep.packs.kg.listing import list_records
from hivekeep.packs.kg.neighbors import neighbors
from hivekeep.packs.kg.search import search
from hivekeep.packs.kg.update import update


class KgPack:
    """The handlers that `hivekeep_contract.handlers.kg.KgHandlers` asks for."""

    create = staticmethod(create)
    delete = staticmethod(delete)
    get = staticmethod(get)
    link = staticmethod(link)
    list_ = staticmethod(list_records)
    neighbors = staticmethod(neighbors)
    restore = staticmethod(restore)
    scan = staticmethod(scan)
    search = staticmethod(search)
    stats = staticmethod(stats)
    update = staticmethod(update)
    verbs = staticmethod(verbs)
    whoami = staticmethod(whoami)
