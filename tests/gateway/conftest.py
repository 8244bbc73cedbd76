"""A gateway for each test: in this process, and behind HTTP on a file of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gateway import Gateway, HttpGateway, open_http, open_in_process


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """The operations without HTTP, on a store in memory."""
    with open_in_process() as opened:
        yield opened


@pytest.fixture
def http(tmp_path: Path) -> Iterator[HttpGateway]:
    """The application of a server, asked byte for byte."""
    with open_http(tmp_path / "store.db") as opened:
        yield opened
