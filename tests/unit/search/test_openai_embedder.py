"""The embedder `openai` against a small endpoint of our own: answers, faults, retries, and what is told of them."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hivekeep.search.embedders import EmbedderUnavailable, InputRefused, openai
from hivekeep.search.embedders.openai import OpenAiEmbedder, endpoint
from hivekeep.search.embedders.protocol import Prepared, unit_vector
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import EMBEDDING_REQUEST_TRIES
from hivekeep_contract.settings import Settings

KEY = "sk-test-0123456789abcdefghij"
VARIABLE = "TEST_EMBEDDING_KEY"
Answer = Callable[[dict[str, Any]], tuple[int, bytes]]


def vector_of(text: str) -> list[float]:
    """The vector that the endpoint gives a text: as long as no other."""
    return [3.0, float(len(text)), 4.0]


def right(asked: dict[str, Any]) -> tuple[int, bytes]:
    """A right answer, its entries in another order than the inputs."""
    entries = [{"index": place, "embedding": vector_of(text)} for place, text in enumerate(asked["input"])]
    return 200, json.dumps({"object": "list", "data": entries[::-1], "model": asked["model"]}).encode()


def saying(status: int, document: object = None) -> Answer:
    """An endpoint that says the same to everybody; bytes are sent as they are."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return lambda _asked: (status, body)


@dataclass
class Endpoint:
    """An endpoint under test; `answers` are given in turn, the last one for ever."""

    url: str
    answers: list[Answer] = field(default_factory=lambda: [right])
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    slowly: float = 0.0

    def embedder(self, **more: Any) -> OpenAiEmbedder:
        """An embedder that asks this endpoint."""
        fields = {
            "embedding_openai_base_url": self.url,
            "embedding_openai_model": "tiny",
            "embedding_openai_key_variable": VARIABLE,
        }
        return OpenAiEmbedder(endpoint(Settings(**{**fields, **more})))


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits long for a retry, and none finds a key by accident."""
    monkeypatch.setattr(openai, "EMBEDDING_RETRY_FIRST_MS", 1)
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def served() -> Iterator[Endpoint]:
    """An endpoint on a loopback port."""
    with serving() as found:
        yield found


@contextmanager
def serving() -> Iterator[Endpoint]:
    """An endpoint that lives for the length of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Note the request and give the next answer, byte by byte when it has to be slow."""
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.asked.append(asked)
            served.headers.append(dict(self.headers))
            served.paths.append(self.path)
            answer = served.answers.pop(0) if len(served.answers) > 1 else served.answers[0]
            status, body = answer(asked)
            self.send_response(status)
            if status in (301, 302, 307, 308):
                self.send_header("Location", f"{served.url}/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                for byte in body if served.slowly else ():
                    self.wfile.write(bytes([byte]))
                    time.sleep(served.slowly)
                if not served.slowly:
                    self.wfile.write(body)
            except OSError:
                pass

        def log_message(self, *_: object) -> None:
            """Nothing is written."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_each_input_gets_its_own_vector_of_length_one(served: Endpoint) -> None:
    """The entries of the answer are put into the order of the inputs; path and body are those of OpenAI's endpoint."""
    embedder = served.embedder()
    assert embedder.embed(["a", "bb", "ccc"]) == [unit_vector(vector_of(text)) for text in ("a", "bb", "ccc")]
    assert served.paths == ["/v1/embeddings"]
    assert served.asked == [{"model": "tiny", "input": ["a", "bb", "ccc"]}]
    assert embedder.dims == 3
    assert "Authorization" not in served.headers[0]


def test_many_inputs_are_asked_for_in_batches(served: Endpoint) -> None:
    """No request has more inputs than `embedding.batch_size`."""
    assert len(served.embedder(embedding_batch_size=2).embed(["a", "b", "c", "d", "e"])) == 5
    assert [len(asked["input"]) for asked in served.asked] == [2, 2, 1]


def test_the_wanted_length_is_asked_for_and_insisted_on(served: Endpoint) -> None:
    """`embedding.openai.dims` is sent; another length is refused and names the setting."""
    embedder = served.embedder(embedding_openai_dims=4)
    with pytest.raises(EmbedderUnavailable, match=r"a vector of 3 numbers, not 4; see embedding\.openai\.dims"):
        embedder.embed(["a"])
    assert served.asked[0]["dimensions"] == 4


def test_a_model_that_changes_its_length_is_refused(served: Endpoint) -> None:
    """The first vector that ever came says how long the others must be."""
    embedder = served.embedder()
    embedder.embed(["a"])
    served.answers = [saying(200, {"data": [{"index": 0, "embedding": [1.0, 2.0]}]})]
    with pytest.raises(EmbedderUnavailable, match="a vector of 2 numbers, not 3"):
        embedder.embed(["a"])


def test_the_key_comes_from_the_environment(served: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read when a request is made and sent as a bearer token."""
    embedder = served.embedder()
    monkeypatch.setenv(VARIABLE, f" {KEY}\n")
    embedder.embed(["a"])
    assert served.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("busy", [429, 500, 502, 503, 504])
def test_a_busy_endpoint_is_asked_again(served: Endpoint, busy: int) -> None:
    """A second try that works is all that is seen."""
    served.answers = [saying(busy), right]
    assert len(served.embedder().embed(["a"])) == 1
    assert len(served.asked) == 2


def test_an_endpoint_that_stays_busy_is_given_up(served: Endpoint) -> None:
    """After the tries of the contract, with its status and address."""
    served.answers = [saying(503)]
    with pytest.raises(EmbedderUnavailable) as refusal:
        served.embedder().embed(["a"])
    assert refusal.value.message == f"openai: {served.url}/embeddings answered status 503"
    assert len(served.asked) == EMBEDDING_REQUEST_TRIES


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "answered status 401; it wants another key"),
        (403, "answered status 403; the key may not do that"),
        (404, "answered status 404; it does not know the path or the model"),
        (302, "answered status 302"),
        (418, "answered status 418"),
    ],
)
def test_what_does_not_pass_is_not_tried_again(served: Endpoint, status: int, says: str) -> None:
    """One request, no other path, and a message that says what to look at."""
    served.answers = [saying(status)]
    with pytest.raises(EmbedderUnavailable, match=says):
        served.embedder().embed(["a"])
    assert served.paths == ["/v1/embeddings"]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_input_is_told_apart(served: Endpoint, status: int) -> None:
    """The endpoint works, so the caller may try the inputs one by one."""
    served.answers = [saying(status)]
    with pytest.raises(InputRefused, match=f"refuses the input \\(status {status}\\)"):
        served.embedder().embed(["a", "b"])
    assert len(served.asked) == 1


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html>", "it is not JSON"),
        (b"\xff\xfe", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        ([], "'data' must be a list of 2"),
        ({"data": {}}, "'data' must be a list of 2"),
        ({"data": [{"index": 0, "embedding": [1.0]}]}, "'data' must be a list of 2"),
        ({"data": [1, 2]}, r"data\[0\] must be an object"),
        ({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}, r"data\[1\].index"),
        ({"data": [{"index": 0, "embedding": [1]}, {"index": 2, "embedding": [1]}]}, r"data\[1\].index"),
        ({"data": [{"index": 0, "embedding": [1]}, {"index": True, "embedding": [1]}]}, r"data\[1\].index"),
        ({"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1}]}, r"data\[0\].embedding must be a list of numbers"),
        ({"data": [{"index": 0, "embedding": [True]}, {"index": 1}]}, r"data\[0\].embedding must be a list of numbers"),
        ({"data": [{"index": 0, "embedding": [0.0]}, {"index": 1}]}, r"data\[0\].embedding has no direction"),
        ({"data": [{"index": 0, "embedding": []}, {"index": 1}]}, r"data\[0\].embedding has no direction"),
        (b'{"data": [{"embedding": [NaN]}, {}]}', r"data\[0\].embedding has no direction"),
        (b'{"data": [{"embedding": [1e999]}, {}]}', r"data\[0\].embedding has no direction"),
        (b'{"data": [{"embedding": [1' + b"0" * 400 + b"]}, {}]}", r"data\[0\].embedding has no direction"),
        ({"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}, "a vector of 2 numbers, not 1"),
    ],
)
def test_an_answer_that_is_no_embedding_is_refused(served: Endpoint, body: object, says: str) -> None:
    """Nothing of it is kept, and the message says what is wrong without repeating it."""
    served.answers = [saying(200, body)]
    with pytest.raises(EmbedderUnavailable, match=says):
        served.embedder().embed(["a", "b"])


def test_a_slow_endpoint_is_cut_off(served: Endpoint) -> None:
    """The time-out is that of the whole answer, however many bytes trickle in; it is not tried again."""
    served.slowly = 0.1
    began = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match=r"did not answer within 0\.3 s"):
        served.embedder(embedding_openai_timeout_secs=0.3).embed(["a"])
    assert time.monotonic() - began < 2
    assert len(served.asked) == 1


def test_an_endpoint_that_is_not_there_is_told_in_one_line() -> None:
    """The reason of the system and the address."""
    with serving() as gone:
        pass
    with pytest.raises(EmbedderUnavailable, match=r"/v1/embeddings cannot be reached \(Connection refused\)$"):
        gone.embedder().embed(["a"])


def test_an_endless_answer_is_no_answer(served: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading stops at the limit of bytes; it is tried again like a lost connection."""
    whole = right({"model": "tiny", "input": ["a"]})[1]
    monkeypatch.setattr(openai, "EMBEDDING_RESPONSE_BYTES_MAX", len(whole) - 1)
    with pytest.raises(EmbedderUnavailable, match=r"cannot be reached \(HTTPException\)"):
        served.embedder().embed(["a"])
    assert len(served.asked) == EMBEDDING_REQUEST_TRIES


def test_a_key_never_travels_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    """To another machine it is sent over https only; the refusal names the variable, not the key."""
    monkeypatch.setenv(VARIABLE, KEY)
    embedder = Endpoint("http://embeddings.example/v1").embedder()
    with pytest.raises(
        EmbedderUnavailable, match=rf"is not encrypted, and the key in \${VARIABLE} is not sent"
    ) as told:
        embedder.embed(["a"])
    assert KEY not in told.value.message


def test_neither_key_nor_text_is_told(
    served: Endpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An endpoint that quotes both in a refusal does not get them into a message, a log line or a printed object."""
    monkeypatch.setenv(VARIABLE, KEY)
    text = "a private sentence"
    served.answers = [saying(400, {"error": {"message": f"bad key {KEY} for input {text}"}})]
    embedder = served.embedder()
    with caplog.at_level(logging.DEBUG), pytest.raises(InputRefused) as refusal:
        embedder.embed([text])
    told = f"{refusal.value!r} {refusal.value.body()} {caplog.text} {embedder!r} {vars(embedder)}"
    assert KEY not in told
    assert text not in told


@pytest.mark.parametrize(
    "address",
    [
        "",
        "api.openai.com/v1",
        "ftp://host/v1",
        "https://",
        "https://user:pw@host/v1",
        "http://host:99999/v1",
        "http://host/v1?key=x",
        "http://[::1/v1",
    ],
)
def test_an_address_that_cannot_be_one_is_refused(address: str) -> None:
    """Before anything starts, and without repeating it: it may hold a password."""
    with pytest.raises(InvalidInput) as refusal:
        endpoint(Settings(embedding_openai_base_url=address))
    assert refusal.value.message.startswith("embedding.openai.base_url must be an http or https address")
    assert "pw" not in refusal.value.message


def test_every_other_endpoint_is_another_revision() -> None:
    """Address, model and wanted length make the revision; a slash at the end does not."""
    of = {
        name: Endpoint(url).embedder(**more).revision
        for name, url, more in [
            ("plain", "http://one/v1", {}),
            ("slash", "http://one/v1/", {}),
            ("address", "http://two/v1", {}),
            ("model", "http://one/v1", {"embedding_openai_model": "other"}),
            ("dims", "http://one/v1", {"embedding_openai_dims": 8}),
        ]
    }
    assert of["plain"] == of["slash"]
    assert len(set(of.values())) == 4
    assert of["dims"] == f"{of['plain']}:8"


def test_a_text_is_cut_at_the_bytes_of_the_setting() -> None:
    """At a whole character, and the rest is counted."""
    embedder = Endpoint("http://one/v1").embedder(embedding_openai_input_bytes_max=16)
    assert embedder.prepare("a" * 16) == Prepared("a" * 16, 0)
    assert embedder.prepare("é" * 9) == Prepared("é" * 8, 2)
    assert embedder.prepare("x" + "é" * 9) == Prepared("x" + "é" * 7, 4)
