"""Map the Python packages installed beside this script into hivekeep, then ask the map two questions.

The official MCP client starts `hivekeep mcp` and talks to its one tool, `request`, as any agent would. Each installed
distribution becomes a `project` entity, each requirement that is installed too a `depends_on` edge. A second run on the
same database adds nothing.

    python examples/map_site_packages.py                      # in a database that is thrown away
    python examples/map_site_packages.py --db map.db          # in one that stays
    python examples/map_site_packages.py --path DIRECTORY     # the packages of another environment
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from email import message_from_string
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client, StdioServerParameters

SOURCE = "site-packages"
BATCH = 100
PAGE = 500
MOST_NEEDED = 5
HITS = 8
DESCRIPTION_CHARS = 2_000
CELL_CHARS = 70
SECRET = "secret_detected"
REQUIREMENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

Call = tuple[str, dict[str, Any]]


class Package(NamedTuple):
    """One installed distribution: canonical name, version, what it says of itself, canonical names it requires."""

    name: str
    version: str
    summary: str
    text: str
    requires: tuple[str, ...]


def canonical(name: str) -> str:
    """The comparable spelling of a distribution name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(path: Sequence[str]) -> list[Package]:
    """The distributions in the directories of `path`, each once, by name."""
    found: dict[str, Package] = {}
    for distribution in metadata.distributions(path=list(path)):
        facts = message_from_string(distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or "")
        name = canonical(facts.get("Name", ""))
        if not name or name in found:
            continue
        requirements = (line for line in distribution.requires or () if "extra ==" not in line)
        names = (match[0] for line in requirements if (match := REQUIREMENT_NAME.match(line)))
        description = str(facts.get_payload() or facts.get("Description") or "")
        found[name] = Package(
            name=name,
            version=distribution.version,
            summary=facts.get("Summary", ""),
            text=description[:DESCRIPTION_CHARS],
            requires=tuple(sorted({canonical(name) for name in names})),
        )
    return [found[name] for name in sorted(found)]


class OperationFailed(Exception):
    """An operation was refused; the message names it and says why."""


class Hive:
    """The `request` tool as Python calls."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def entries(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        """Run operations, as many at a time as one request may hold; answers one entry for each."""
        entries: list[dict[str, Any]] = []
        for start in range(0, len(calls), BATCH):
            batch = [{"tool": tool, "args": args} for tool, args in calls[start : start + BATCH]]
            answer = await self._client.call_tool(
                "request", {"ops": json.dumps(batch, ensure_ascii=False), "presentation": "verbose"}
            )
            envelope = json.loads(answer.content[0].text)  # type: ignore[union-attr]
            if "results" not in envelope:
                raise OperationFailed(f"the request was refused: {envelope['error']['message']}")
            entries += envelope["results"]
        return entries

    async def run(self, calls: Sequence[Call]) -> list[Any]:
        """Run operations and answer their results. Raises OperationFailed for the first that failed."""
        entries = await self.entries(calls)
        for entry in entries:
            if not entry["ok"]:
                raise OperationFailed(f"{entry['tool']} failed: {entry['error']['message']}")
        return [entry["result"] for entry in entries]

    async def mapped(self) -> dict[str, str]:
        """Ids of the packages that are in the store already, by name; walks all pages."""
        known: dict[str, str] = {}
        after: str | None = ""
        while after is not None:
            (page,) = await self.run([("list", {"kind": "project", "tags": [SOURCE], "limit": PAGE, "after": after})])
            known |= {entity["name"]: entity["id"] for entity in page["entities"]}
            after = page["next_after"]
        return known


async def build(hive: Hive, packages: Sequence[Package]) -> dict[str, str]:
    """Create what is missing and link what requires what; answers ids by package name."""
    ids = await hive.mapped()
    missing = [package for package in packages if package.name not in ids]
    print(f"mapping {len(missing)} new of {len(packages)} packages", file=sys.stderr)
    ids |= await create(hive, missing)
    await hive.run([("link", edge) for package in packages for edge in as_edges(package, ids)])
    return ids


async def create(hive: Hive, packages: Sequence[Package]) -> dict[str, str]:
    """Create one entity a package; answers ids by name.

    hivekeep stores no credentials, and a README may show a token as an example. Such a package is created by its
    summary alone.
    """
    entries = await hive.entries([("create", as_entity(package, package.text)) for package in packages])
    refused = [
        package
        for package, entry in zip(packages, entries, strict=True)
        if not entry["ok"] and entry["error"]["kind"] == SECRET
    ]
    for package in refused:
        print(f"the description of {package.name} shows a credential and is left out", file=sys.stderr)
    for entry in entries:
        if not entry["ok"] and entry["error"]["kind"] != SECRET:
            raise OperationFailed(f"create failed: {entry['error']['message']}")
    created = [entry["result"] for entry in entries if entry["ok"]]
    created += await hive.run([("create", as_entity(package, "")) for package in refused])
    return {entity["name"]: entity["id"] for entity in created}


def as_entity(package: Package, text: str) -> dict[str, Any]:
    """The arguments of `create` for one package."""
    return {
        "kind": "project",
        "name": package.name,
        "entity_type": "library",
        "description": f"{package.summary}\n\n{text}".strip() or package.name,
        "properties": {"version": package.version, "summary": package.summary},
        "tags": [SOURCE],
        "skip_dedup_check": True,
    }


def as_edges(package: Package, ids: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The arguments of `link` for each requirement that is installed."""
    for name in package.requires:
        if name in ids and name != package.name:
            yield {"source_id": ids[package.name], "target_id": ids[name], "relation": "depends_on"}


def table(title: str, header: tuple[str, str], rows: Sequence[tuple[str, str]]) -> str:
    """A small text table; cells are cut so that it fits a terminal."""
    width = max([len(header[0]), *(len(row[0]) for row in rows)])
    lines = [title, f"  {header[0]:<{width}}  {header[1]}", f"  {'-' * width}  {'-' * 50}"]
    lines += [f"  {left:<{width}}  {shortened(right)}" for left, right in rows]
    return "\n".join(lines)


def shortened(text: str) -> str:
    """A text of at most `CELL_CHARS` characters, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= CELL_CHARS else line[: CELL_CHARS - 3] + "..."


async def report(hive: Hive, packages: Sequence[Package], word: str) -> None:
    """Build the map and print the two answers."""
    ids = await build(hive, packages)
    needed = Counter(name for package in packages for name in package.requires if name in ids)
    asked = [name for name, _ in needed.most_common(MOST_NEEDED)]
    answers = await hive.run(
        [("neighbors", {"node_id": ids[name], "direction": "in", "relations": ["depends_on"]}) for name in asked]
    )
    rows = [
        (name, f"{len(hits)}: " + ", ".join(sorted(hit["name"] for hit in hits)))
        for name, hits in zip(asked, answers, strict=True)
    ]
    print(table("What depends on the most needed packages", ("package", "needed by"), rows))

    (hits,) = await hive.run([("search", {"kind": "project", "query": word, "limit": HITS})])
    print()
    print(
        table(
            f"Which packages speak about {word!r}",
            ("package", "where"),
            # With an embedder a search also tells what is near in meaning; here the word itself is asked for.
            [(hit["title"], hit["snippet"] or "") for hit in hits if hit["source"] != "vector"],
        )
    )

    (counts,) = await hive.run([("stats", {})])
    print(f"\nThe store holds {counts['entities']} entities and {counts['edges']} edges.")


async def main(database: Path, path: Sequence[str], word: str) -> str | None:
    """Map the packages of `path` into a database; answers what went wrong, if anything did."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "hivekeep", "mcp", "--db", str(database)],
        # The client hands a server only the variables it is told to.
        env={name: value for name, value in os.environ.items() if name.startswith("HIVEKEEP_")},
    )
    async with Client(server) as client:
        try:
            await report(Hive(client), installed(path), word)
        except OperationFailed as failure:
            return str(failure)
    return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--db", type=Path, help="database file to keep; without it one is made and thrown away")
    parser.add_argument("--path", action="append", help="directory of installed packages (default: this interpreter's)")
    parser.add_argument("--word", default="schema", help="what to search for (default: schema)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(asyncio.run(main(options.db or Path(scratch) / "map.db", options.path or sys.path, options.word)))
