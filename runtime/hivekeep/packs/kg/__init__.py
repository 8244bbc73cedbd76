"""The kg pack: entities, notes, edges and events.

Invariant: one module a topic; the class only says which function answers which verb.
"""

from hivekeep.packs.kg import (
    about,
    context,
    create_many,
    delete,
    diagnostics,
    get,
    link_many,
    listing,
    merge,
    neighbors,
    proposals,
    query,
    resolve_refs,
    search,
    traverse,
    update,
)


class KgPack:
    """The handlers that `hivekeep_contract.handlers.kg.KgHandlers` asks for."""

    context = staticmethod(context.context)
    create = staticmethod(create_many.create)
    propose = staticmethod(proposals.propose)
    query = staticmethod(query.query)
    resolve = staticmethod(resolve_refs.resolve)
    restore = staticmethod(delete.restore)
    delete = staticmethod(delete.delete)
    db_diagnostics = staticmethod(diagnostics.db_diagnostics)
    get = staticmethod(get.get)
    link = staticmethod(link_many.link)
    list_ = staticmethod(listing.list_records)
    merge = staticmethod(merge.merge)
    neighbors = staticmethod(neighbors.neighbors)
    review = staticmethod(proposals.review)
    scan = staticmethod(about.scan)
    search = staticmethod(search.search)
    stats = staticmethod(about.stats)
    traverse = staticmethod(traverse.traverse)
    update = staticmethod(update.update)
    verbs = staticmethod(about.verbs)
    whoami = staticmethod(about.whoami)
    withdraw = staticmethod(proposals.withdraw)
