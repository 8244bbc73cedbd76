"""Who may talk to the HTTP door: the bearer token, and the Host and Origin of the request.

What it keeps true: the token is compared in constant time, and whole, so scheme, spacing and length are
part of the comparison (how long a right header is, is no secret); Host and Origin are compared as parsed
hosts, never as text prefixes, so `localhost.evil.example` and `127.0.0.1@evil.example` are foreign. Both
checks are needed: the token keeps out local programs, the host check keeps a web page that rebinds its name
to 127.0.0.1 from ever being answered.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from hmac import compare_digest
from ipaddress import ip_address

_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN_SCHEMES = ("http", "https")
_REMEMBERED = 256


def new_token() -> str:
    """A capability token: 64 lower-case hex digits, 256 random bits."""
    return secrets.token_hex(32)


def parse_authority(text: str) -> str | None:
    """The lower-case host of `host[:port]` or `[v6][:port]`; None when `text` is anything else."""
    found = _AUTHORITY.fullmatch(text)
    if found is None or int(found["port"] or 0) > 65535:
        return None
    return (found["v6"] or found["name"]).lower()


def is_loopback(host: str) -> bool:
    """Whether a parsed host names this machine: `localhost` or an address of the loopback ranges."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """The checks of one server: its token, and the web origins beside loopback that an operator allowed.

    `allowed_origins` are origins as browsers send them: scheme, host and, unless it is the scheme's own,
    the port.
    """

    def __init__(self, token: str, allowed_origins: Iterable[str] = ()) -> None:
        self._expected = f"Bearer {token}".encode("ascii")
        self._allowed = frozenset(origin.lower().rstrip("/") for origin in allowed_origins)
        self._known: dict[str, bool] = {}

    def token_ok(self, authorization: str | None) -> bool:
        """Whether the Authorization header is exactly `Bearer <token>`."""
        return compare_digest((authorization or "").encode("utf-8", "replace"), self._expected)

    def host_ok(self, host: str | None) -> bool:
        """Whether the Host header names this machine; a missing one does not."""
        return host is not None and self._is_loopback(host)

    def origin_ok(self, origin: str | None) -> bool:
        """Whether no web page asks (no Origin), or one of this machine, or one that the operator allowed."""
        if origin is None or origin.lower() in self._allowed:
            return True
        scheme, separator, authority = origin.partition("://")
        return bool(separator) and scheme in _ORIGIN_SCHEMES and self._is_loopback(authority)

    def _is_loopback(self, authority: str) -> bool:
        """One verdict an authority; the memory is bounded because clients choose the values."""
        verdict = self._known.get(authority)
        if verdict is None:
            host = parse_authority(authority)
            verdict = host is not None and is_loopback(host)
            if len(self._known) < _REMEMBERED:
                self._known[authority] = verdict
        return verdict
