"""What the names in a SPARQL text stand for.

Invariant: a name means the same wherever it stands in a query. What a prefix or BASE stands for does not matter, only
that a prefix is declared: the graph has one vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hivekeep.query.sparql_ast import Iri, Kind
from hivekeep.query.sparql_errors import invalid

KIND: Final = "kind"
"""The field behind the predicate `a`."""

_RDF_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NAMESPACE: Final = re.compile(r".*[/#:]", re.DOTALL)


class Names:
    """The names of one query. The empty prefix needs no declaration."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = {"": "", **prefixes}

    def of(self, iri: Iri) -> str:
        """The local name; raises InvalidQuery for a prefix that is not declared, or a name without a local part."""
        if iri.prefix is None:
            name = _NAMESPACE.sub("", iri.name)
        elif iri.prefix in self._prefixes:
            name = iri.name
        else:
            declared = ", ".join(sorted(prefix + ":" for prefix in self._prefixes))
            raise invalid(f"the prefix {iri.prefix}: is not declared; accepted: {declared}", iri.at)
        if not name:
            raise invalid(f"<{iri.name}> has no name behind its last / or # or :", iri.at)
        return name

    def predicate(self, path: Iri | Kind) -> str:
        """The name of a predicate; `a` and `rdf:type` are the field kind."""
        if isinstance(path, Kind):
            return KIND
        written = path.name if path.prefix is None else self._prefixes.get(path.prefix, "") + path.name
        return KIND if written == _RDF_TYPE else self.of(path)
