"""The open pages: documents the generator printed, served as the bytes it printed.

What it keeps true: nothing here is computed, so a page says what the contract says; the HTML page may use
its own inline styles and nothing else, from anywhere.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Page(NamedTuple):
    """One page: its URL path, its file in the generated package, its media type."""

    path: str
    file: str
    media_type: str

    def body(self) -> bytes:
        """The bytes of the page."""
        return files("hivekeep_contract").joinpath(self.file).read_bytes()

    def headers(self) -> dict[str, str]:
        """Response headers of the page beside those every answer has."""
        return {"content-security-policy": _PAGE_POLICY} if self.media_type.startswith("text/html") else {}


PAGES = (
    Page("/openapi.json", "openapi.json", "application/json"),
    Page("/docs", "docs/index.html", "text/html; charset=utf-8"),
    Page("/llms.txt", "docs/llms.txt", "text/plain; charset=utf-8"),
    Page("/llms-full.txt", "docs/llms-full.txt", "text/plain; charset=utf-8"),
    Page("/md/api-reference.md", "docs/api-reference.md", "text/markdown; charset=utf-8"),
)
