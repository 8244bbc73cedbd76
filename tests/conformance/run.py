"""Runs the public MCP conformance suite against `hivekeep serve`.

The suite's client cannot send a token, so it talks to a small relay that puts the Authorization header into each
request head and passes every other byte on, Host and Origin included.

Every scenario the suite has for servers is named here, to be run or with the reason why it does not apply. One that
is not named fails the run, so that a person looks at what a new version of the suite brings.

Usage: `run.py COMMAND...`, where COMMAND starts the suite (`run.sh` fetches it).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.processes import Serving, serving

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"

RUN = {
    "server-initialize": [HANDSHAKE],
    "server-session-lifecycle": [HANDSHAKE],
    "ping": [HANDSHAKE],
    "tools-list": [HANDSHAKE, STATELESS],
    "dns-rebinding-protection": [HANDSHAKE, STATELESS],
    "caching": [STATELESS],
    "http-header-validation": [STATELESS],
    "server-stateless": [STATELESS],
}

OTHER_TOOLS = "needs test tools of the suite, which this server does not have"
NO_RESOURCES = "resources are not offered"
NO_PROMPTS = "prompts are not offered"
NO_ASKING = "the server never asks its client for input"
NO_STREAMS = "each request is answered with one JSON body; there are no streams to resume"
NO_EXTENSION = "an extension that is not announced"
LEFT_OUT = {
    "logging-set-level": "logging is not offered",
    "completion-complete": "completions are not offered",
    "tools-call-simple-text": OTHER_TOOLS,
    "tools-call-image": OTHER_TOOLS,
    "tools-call-audio": OTHER_TOOLS,
    "tools-call-embedded-resource": OTHER_TOOLS,
    "tools-call-mixed-content": OTHER_TOOLS,
    "tools-call-with-logging": OTHER_TOOLS,
    "tools-call-error": OTHER_TOOLS,
    "tools-call-with-progress": OTHER_TOOLS,
    "tools-call-sampling": NO_ASKING,
    "tools-call-elicitation": NO_ASKING,
    "json-schema-2020-12": OTHER_TOOLS,
    "elicitation-sep1034-defaults": NO_ASKING,
    "elicitation-sep1330-enums": NO_ASKING,
    "server-sse-polling": NO_STREAMS,
    "server-sse-multiple-streams": NO_STREAMS,
    "resources-list": NO_RESOURCES,
    "resources-read-text": NO_RESOURCES,
    "resources-read-binary": NO_RESOURCES,
    "resources-templates-read": NO_RESOURCES,
    "resources-subscribe": NO_RESOURCES,
    "resources-unsubscribe": NO_RESOURCES,
    "sep-2164-resource-not-found": NO_RESOURCES,
    "prompts-list": NO_PROMPTS,
    "prompts-get-simple": NO_PROMPTS,
    "prompts-get-with-args": NO_PROMPTS,
    "prompts-get-embedded-resource": NO_PROMPTS,
    "prompts-get-with-image": NO_PROMPTS,
    "http-custom-header-server-validation": "no parameter of the tool is mirrored into a header",
}
EXCUSED = {
    "sep-2549-prompts-list-caching-hints": NO_PROMPTS,
    "sep-2549-resources-list-caching-hints": NO_RESOURCES,
    "sep-2549-resources-templates-list-caching-hints": NO_RESOURCES,
    "sep-2575-server-rejects-undeclared-capability": OTHER_TOOLS,
    "sep-2575-missing-capability-http-400": OTHER_TOOLS,
    "sep-2575-http-server-no-independent-requests-on-stream": OTHER_TOOLS,
    "sep-2575-server-no-log-without-loglevel": OTHER_TOOLS,
}
"""Single checks of a scenario that is run, which cannot pass here; one that passes after all fails the run."""

LEFT_OUT_FAMILIES = {
    "sep-2640-skills-": NO_EXTENSION,
    "tasks-": NO_EXTENSION,
    "input-required-result-": NO_ASKING,
}


def main(suite: Sequence[str]) -> int:
    """Run every applicable scenario; 0 when all pass, none is unknown and no excuse is stale."""
    listed = subprocess.run([*suite, "list", "--server"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^\s+- (\S+) \[", listed, re.MULTILINE)
    troubles = [f"unknown scenario {name}: name it, to be run or with a reason" for name in names if not is_known(name)]
    excused: set[str] = set()
    with tempfile.TemporaryDirectory() as home, serving(Path(home)) as server, relay(server) as url:
        for name, revisions in RUN.items():
            for revision in revisions:
                failed = failures(suite, url, name, revision)
                excused |= failed & EXCUSED.keys()
                found = [f"{name} {revision}: {check}" for check in sorted(failed - EXCUSED.keys())]
                say(f"{'FAILED' if found else 'ok':8}{name} {revision}")
                troubles += found
    troubles += [f"{check} passes; its excuse can go" for check in sorted(EXCUSED.keys() - excused)]
    left_out = len(names) - len(RUN)
    say(f"{len(RUN)} scenarios run, {left_out} left out, {len(EXCUSED)} checks excused, {len(troubles)} troubles")
    for trouble in troubles:
        say(f"TROUBLE {trouble}")
    return 1 if troubles else 0


def say(text: str) -> None:
    """One line of the report, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def is_known(name: str) -> bool:
    """Whether this file says what to do with a scenario."""
    return name in RUN or name in LEFT_OUT or name.startswith(tuple(LEFT_OUT_FAMILIES))


def failures(suite: Sequence[str], url: str, name: str, revision: str) -> set[str]:
    """Ids of the checks that failed in one scenario at one revision."""
    with tempfile.TemporaryDirectory() as results:
        command = [*suite, "server", "--url", url, "--scenario", name, "--spec-version", revision, "-o", results]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        (file,) = Path(results).glob("*/checks.json")
        checks = json.loads(file.read_text())
    failed = {check["id"] for check in checks if check["status"] in ("FAILURE", "WARNING")}
    # A suite that stopped half-way has fewer checks, not failed ones.
    return failed or (set() if done.returncode == 0 else {f"status {done.returncode}"})


@contextlib.contextmanager
def relay(server: Serving) -> Iterator[str]:
    """The address of a relay to `server` that adds the token; it runs in a thread until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = asyncio.run_coroutine_threadsafe(_listen(server), loop).result(10)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


async def _listen(server: Serving) -> asyncio.Server:
    host, _, port = server.url.removeprefix("http://").partition(":")
    token = b"".join(f"{name}: {value}\r\n".encode() for name, value in server.headers.items())

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, downstream = await asyncio.open_connection(host, int(port))
        answers = asyncio.ensure_future(_copy(upstream, writer))
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)^content-length:\s*(\d+)", head, re.MULTILINE)
                body = await reader.readexactly(int(length[1]) if length else 0)
                downstream.write(head[:-2] + token + b"\r\n" + body)
                await downstream.drain()
        downstream.close()
        await answers

    return await asyncio.start_server(connect, "127.0.0.1", 0)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    writer.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
