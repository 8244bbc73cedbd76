"""The open pages: documents the generator printed, served as the bytes it printed.

What it keeps true: nothing here is computed, so a page says what the contract says; the HTML page may use
its own inline styles and nothing else, from anywhere.
"""

from __future__ import annotations

from importlib.resources import files

from hivekeep_contract.routes import Route

_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def body(page: Route) -> bytes:
    """The bytes of a page."""
    return files("hivekeep_contract").joinpath(page.file).read_bytes()


def content_type(page: Route) -> str:
    """Its media type; text says its encoding too."""
    return f"{page.media_type}; charset=utf-8" if page.media_type.startswith("text/") else page.media_type


def headers(page: Route) -> dict[str, str]:
    """Its response headers beside those every answer has."""
    return {"content-security-policy": _PAGE_POLICY} if page.media_type == "text/html" else {}
