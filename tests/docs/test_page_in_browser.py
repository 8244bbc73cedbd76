"""The printed reference as a browser shows it: loaded from a running server by headless Chromium."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from hivekeep_contract.catalog import VERBS
from support.processes import serving

pytestmark = pytest.mark.slow  # about 5 seconds: a server, and a browser that starts three times
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PROBE = """<script>
const result = {overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth};
result.missed = [...document.querySelectorAll("nav a")].filter((anchor) => {
  anchor.click();
  const box = document.getElementById(anchor.hash.slice(1)).getBoundingClientRect();
  return box.top < 0 || box.bottom > window.innerHeight;
}).map((anchor) => anchor.hash);
document.documentElement.replaceChildren(document.createTextNode(JSON.stringify(result)));
</script>"""


class Loaded(NamedTuple):
    """What the server sent, what the browser made of it, and (who asks, address) of every request of the browser."""

    url: str
    sent: str
    dom: str
    requests: set[tuple[str, str]]


class Anchors(HTMLParser):
    """Texts of the links of the table of contents by target, and of the headings by id."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.headings: dict[str, str] = {}
        self._open: tuple[dict[str, str], str] | None = None
        self.feed(dom)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and not self.headings and (target := given.get("href")):
            self._begin(self.links, target.removeprefix("#"))
        elif tag in ("h1", "h2", "h3") and (name := given.get("id")):
            self._begin(self.headings, name)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("a", "h1", "h2", "h3"):
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            texts, name = self._open
            texts[name] += data

    def _begin(self, texts: dict[str, str], name: str) -> None:
        assert name not in texts, f"{name} stands twice"
        texts[name] = ""
        self._open = (texts, name)


def browse(folder: Path, address: str, *options: str) -> str:
    """The document of an address once the browser has loaded it and run its scripts."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert browser is not None, f"install one of {', '.join(BROWSERS)}: apt-get install chromium"
    command = [browser, *QUIET, f"--user-data-dir={folder / 'profile'}", *options, "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def requests(log: Path) -> set[tuple[str, str]]:
    """(initiator, address) of every request in a network log of Chromium, its own for updates included."""
    events: list[dict[str, Any]] = json.loads(log.read_text())["events"]
    asked = [event["params"] for event in events if "initiator" in event.get("params", {})]
    return {(params["initiator"], params["url"]) for params in asked}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """`/docs` of a running server."""
    folder = tmp_path_factory.mktemp("browser")
    with serving(folder) as server:
        url = f"{server.url}/docs"
        dom = browse(folder, url, f"--log-net-log={folder / 'net.json'}")
        yield Loaded(url, httpx.get(url).text, dom, requests(folder / "net.json"))


def test_the_page_is_whole_without_asking_anybody_else(loaded: Loaded) -> None:
    """The page makes the browser ask for nothing, unless for the icon of this very server."""
    origin = loaded.url.removesuffix("/docs")
    assert loaded.url in {address for _, address in loaded.requests}
    assert {address for asking, address in loaded.requests if asking == origin} <= {f"{origin}/favicon.ico"}


def test_every_entry_of_the_contents_leads_to_its_heading(loaded: Loaded) -> None:
    """Link and heading have the same text, no target is missing, and every verb is among them."""
    found = Anchors(loaded.dom)
    assert found.links == found.headings
    assert {name for name in VERBS if not VERBS[name].internal} <= set(found.headings.values())


@pytest.mark.parametrize("width", [1280, 500])
def test_a_link_scrolls_its_heading_into_view_and_nothing_is_wider_than_the_window(
    loaded: Loaded, tmp_path: Path, width: int
) -> None:
    """On a wide screen and on a narrow one; what is too wide scrolls inside its own box."""
    page = tmp_path / "page.html"
    page.write_text(loaded.sent.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    dom = browse(tmp_path, page.as_uri(), f"--window-size={width},900")
    result = json.loads(dom[dom.index("{") : dom.rindex("}") + 1])
    assert result == {"overflow": 0, "missed": []}
