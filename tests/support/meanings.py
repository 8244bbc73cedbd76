"""The embedder of tests, and queries as it sees them."""

from hivekeep.search.embedders.hashed import HashedEmbedder
from hivekeep.search.meaning import QueryVector

EMBEDDER = HashedEmbedder()


def meaning(query: str, embedder: HashedEmbedder = EMBEDDER) -> tuple[QueryVector, ...]:
    """The one vector of a query."""
    return (QueryVector(embedder.name, embedder.revision, embedder.embed([query])[0]),)
