"""Compiled queries, kept by their text: the second time a text comes it is neither parsed nor compiled."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from hivekeep.query import gql, sparql
from hivekeep.query.compile import Compiled, compile_plan
from hivekeep.query.dialect import Language, language_of
from hivekeep.query.plan import Plan
from hivekeep_contract.limits import QUERY_PLANS_KEPT

_PARSERS = {"gql": gql.parse, "sparql": sparql.parse}


class Query(NamedTuple):
    """A text that was understood."""

    language: Language
    plan: Plan
    compiled: Compiled


def prepared(text: str, namespaces: Sequence[str]) -> Query:
    """The compiled query of a text over these namespaces; raises InvalidQuery, InvalidInput or Unsupported."""
    return _prepared(text, tuple(namespaces))


@lru_cache(maxsize=QUERY_PLANS_KEPT)
def _prepared(text: str, namespaces: tuple[str, ...]) -> Query:
    language = language_of(text)
    plan = _PARSERS[language](text)
    return Query(language, plan, compile_plan(plan, namespaces))
