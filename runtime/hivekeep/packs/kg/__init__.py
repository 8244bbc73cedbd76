"""The kg pack: entities, notes, edges and events.

Invariant: one module a topic; the class only says which function answers which verb.
"""

from hivekeep.packs.kg import about, create, delete, get, link, listing, neighbors, search, update


class KgPack:
    """The handlers that `hivekeep_contract.handlers.kg.KgHandlers` asks for."""

    create = staticmethod(create.create)
    restore = staticmethod(delete.restore)
    delete = staticmethod(delete.delete)
    get = staticmethod(get.get)
    link = staticmethod(link.link)
    list_ = staticmethod(listing.list_records)
    neighbors = staticmethod(neighbors.neighbors)
    scan = staticmethod(about.scan)
    search = staticmethod(search.search)
    stats = staticmethod(about.stats)
    update = staticmethod(update.update)
    verbs = staticmethod(about.verbs)
    whoami = staticmethod(about.whoami)
