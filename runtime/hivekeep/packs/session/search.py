"""search: the refusal that stands where the search of mirrored transcripts will be.

Invariant: wrong arguments are told first; right ones never reach a transcript.
"""

from typing import NoReturn

from hivekeep.packs.context import Context
from hivekeep_contract.errors import InvalidInput, Unconfigured
from hivekeep_contract.models import session as models


def search(ctx: Context, args: models.SearchArgs) -> NoReturn:
    """Raises InvalidInput for a query without a word, otherwise Unconfigured."""
    if not any(character.isalnum() for character in args.query):
        raise InvalidInput("session.search: 'query' must hold at least one letter or digit")
    raise Unconfigured(
        "session.search: transcripts are not searched by this server: that needs their deletion, and resume and export"
        ' that go on with them; stored sessions are found with search(kind="session")'
    )
