"""Map the Python packages installed beside this script into hivekeep, then ask the map two questions.

The official MCP client starts `hivekeep mcp` and talks to its one tool, `request`, as any agent would. Each installed
distribution becomes a `project` entity, each requirement that is installed too a `depends_on` edge. A second run on the
same database adds nothing twice.

    python examples/map_site_packages.py                 # in a database that is thrown away
    python examples/map_site_packages.py --db map.db     # in one that stays
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client, StdioServerParameters

SOURCE = "site-packages"
BATCH = 100
DESCRIPTION_CHARS = 2_000
REQUIREMENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


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


def installed() -> list[Package]:
    """The distributions on this interpreter's path, each once, by name."""
    found: dict[str, Package] = {}
    for distribution in metadata.distributions():
        facts = distribution.metadata
        name = canonical(facts["Name"] or "")
        if not name or name in found:
            continue
        requirements = (line for line in distribution.requires or () if "extra ==" not in line)
        names = (match[0] for line in requirements if (match := REQUIREMENT_NAME.match(line)))
        description = str(facts.get_payload() or facts.get("Description") or "")
        found[name] = Package(
            name=name,
            version=distribution.version,
            summary=facts.get("Summary") or "",
            text=description[:DESCRIPTION_CHARS],
            requires=tuple(sorted({canonical(name) for name in names})),
        )
    return [found[name] for name in sorted(found)]


class Hive:
    """The `request` tool as Python calls."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def run(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        """Run operations in batches of 100 and answer their results; the first failure ends the program."""
        results: list[Any] = []
        for start in range(0, len(calls), BATCH):
            batch = [{"tool": tool, "args": args} for tool, args in calls[start : start + BATCH]]
            answer = await self._client.call_tool(
                "request", {"ops": json.dumps(batch, ensure_ascii=False), "presentation": "verbose"}
            )
            envelope = json.loads(answer.content[0].text)  # type: ignore[union-attr]
            for entry in envelope["results"]:
                if not entry["ok"]:
                    sys.exit(f"{entry['tool']} failed: {entry['error']['message']}")
                results.append(entry["result"])
            if len(calls) > BATCH:
                print(f"\r  {len(results)} of {len(calls)}", end="", file=sys.stderr)
        if len(calls) > BATCH:
            print(file=sys.stderr)
        return results

    async def walk_projects(self) -> dict[str, str]:
        """Ids of the packages that are mapped already, by name."""
        known: dict[str, str] = {}
        after: str | None = ""
        while after is not None:
            (page,) = await self.run([("list", {"kind": "project", "tags": [SOURCE], "limit": 500, "after": after})])
            known |= {entity["name"]: entity["id"] for entity in page["entities"]}
            after = page["next_after"]
        return known


async def build(hive: Hive, packages: Sequence[Package]) -> dict[str, str]:
    """Create what is missing and link what requires what; answers ids by package name."""
    ids = await hive.walk_projects()
    missing = [package for package in packages if package.name not in ids]
    print(f"mapping {len(missing)} new of {len(packages)} packages", file=sys.stderr)
    created = await hive.run([("create", as_entity(package)) for package in missing])
    ids |= {entity["name"]: entity["id"] for entity in created}
    await hive.run([("link", edge) for package in packages for edge in as_edges(package, ids)])
    return ids


def as_entity(package: Package) -> dict[str, Any]:
    """The arguments of `create` for one package."""
    return {
        "kind": "project",
        "name": package.name,
        "entity_type": "library",
        "description": f"{package.summary}\n\n{package.text}".strip(),
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
    lines += [f"  {left:<{width}}  {right[:70]}" for left, right in rows]
    return "\n".join(lines)


async def main(database: Path, word: str) -> None:
    """Build the map in a database and print the two answers."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "hivekeep", "mcp", "--db", str(database)])
    async with Client(server) as client:
        hive = Hive(client)
        packages = installed()
        ids = await build(hive, packages)

        needed = Counter(name for package in packages for name in package.requires if name in ids)
        asked = [name for name, _ in needed.most_common(5)]
        answers = await hive.run(
            [("neighbors", {"node_id": ids[name], "direction": "in", "relations": ["depends_on"]}) for name in asked]
        )
        rows = [
            (name, f"{len(hits)}: " + ", ".join(sorted(hit["name"] for hit in hits)))
            for name, hits in zip(asked, answers, strict=True)
        ]
        print(table("What depends on the most needed packages", ("package", "needed by"), rows))

        (hits,) = await hive.run([("search", {"kind": "project", "query": word, "limit": 8})])
        found = [(hit["title"], " ".join((hit["snippet"] or "").split())) for hit in hits]
        print()
        print(table(f"Which packages speak about {word!r}", ("package", "where"), found))

        (counts,) = await hive.run([("stats", {})])
        print(f"\n{counts['entities']} entities and {counts['edges']} edges are in {database}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--db", type=Path, help="database file to keep; without it one is made and thrown away")
    parser.add_argument("--word", default="schema", help="what to search for (default: schema)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(main(options.db or Path(scratch) / "map.db", options.word))
