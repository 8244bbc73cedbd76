"""The embedder `openai`: any endpoint that answers `POST <base_url>/embeddings` as OpenAI's does.

Invariant: the key is read from the environment when a request is made and is in no message, log or attribute that is
printed; it goes to the host of the settings only (redirects are not followed) and never over an unencrypted connection
to another machine. An answer becomes vectors only if it has exactly one finite vector of the right length for each
input. Neither the texts nor what the endpoint says of them is in a message.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import time
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from hivekeep.search.embedders.protocol import InputRefused, Prepared, bounded, unit_vector
from hivekeep_contract.errors import EmbedderUnavailable, InvalidInput
from hivekeep_contract.limits import (
    EMBEDDING_REQUEST_TRIES,
    EMBEDDING_RESPONSE_BYTES_MAX,
    EMBEDDING_RETRY_FIRST_MS,
)
from hivekeep_contract.settings import Settings

NAME: Final = "openai"

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_CHUNK: Final = 1 << 16
_OK: Final = 200
_BUSY: Final = (429, 500, 502, 503, 504)
"""The endpoint may answer the same request a moment later."""
_REFUSED: Final = (400, 413, 422)
"""The endpoint works and does not want this request."""
_ADVICE: Final = {
    401: "it wants another key",
    403: "the key may not do that",
    404: "it does not know the path or the model; see embedding.openai.base_url and embedding.openai.model",
}


class Endpoint(NamedTuple):
    """Where and how vectors are asked for; `dims` None takes what comes first."""

    secure: bool
    host: str
    port: int | None
    path: str
    model: str
    dims: int | None
    key_variable: str
    timeout_s: float
    batch: int
    input_bytes_max: int

    @property
    def shown(self) -> str:
        """The address as messages show it; it has no user or password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{'https' if self.secure else 'http'}://{host}{port}{self.path}"


def endpoint(settings: Settings) -> Endpoint:
    """The endpoint that the settings describe; raises InvalidInput for an address that cannot be one."""
    try:
        parts = urlsplit(settings.embedding_openai_base_url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or "@" in parts.netloc:
        raise InvalidInput(
            "embedding.openai.base_url must be an http or https address without user, query and fragment, such as "
            "https://api.openai.com/v1"
        )
    return Endpoint(
        secure=parts.scheme == "https",
        host=host,
        port=port,
        path=f"{parts.path.rstrip('/')}/embeddings",
        model=settings.embedding_openai_model,
        dims=settings.embedding_openai_dims,
        key_variable=settings.embedding_openai_key_variable,
        timeout_s=settings.embedding_openai_timeout_secs,
        batch=settings.embedding_batch_size,
        input_bytes_max=settings.embedding_openai_input_bytes_max,
    )


class OpenAiEmbedder:
    """See `protocol.Embedder`. An address, model or wanted length of its own is a revision of its own."""

    name = NAME

    def __init__(self, of: Endpoint) -> None:
        self._endpoint = of
        self.dims = of.dims
        where = blake2b(of.shown.encode(), digest_size=4).hexdigest()
        self.revision = f"{of.model}@{where}" + (f":{of.dims}" if of.dims else "")

    def is_ready(self, size: int) -> bool:
        """Always: nothing has to be loaded."""
        return True

    def make_ready(self, size: int) -> None:
        """Nothing has to be loaded."""

    def prepare(self, text: str) -> Prepared:
        """The first bytes of a text."""
        return bounded(text, self._endpoint.input_bytes_max)

    def embed(self, inputs: Sequence[str]) -> list[bytes]:
        """The vectors of the inputs, asked for in batches."""
        vectors: list[bytes] = []
        for start in range(0, len(inputs), self._endpoint.batch):
            vectors += self._vectors(inputs[start : start + self._endpoint.batch])
        return vectors

    def _vectors(self, inputs: Sequence[str]) -> list[bytes]:
        wanted: dict[str, Any] = {"model": self._endpoint.model, "input": list(inputs)}
        if self._endpoint.dims:
            wanted["dimensions"] = self._endpoint.dims
        try:
            vectors = _read(self._answer(json.dumps(wanted).encode()), len(inputs))
        except ValueError as fault:
            raise EmbedderUnavailable(
                f"{NAME}: {self._endpoint.shown} answered what is no embedding: {fault}"
            ) from None
        self._check_dims(vectors)
        return vectors

    def _check_dims(self, vectors: Sequence[bytes]) -> None:
        """Every vector is as long as the settings, or the first one that ever came, say."""
        wanted = self.dims or len(vectors[0]) // 4
        for vector in vectors:
            if len(vector) != wanted * 4:
                raise EmbedderUnavailable(
                    f"{NAME}: {self._endpoint.shown} answered a vector of {len(vector) // 4} numbers, not {wanted}; "
                    "see embedding.openai.dims"
                )
        self.dims = wanted

    def _answer(self, body: bytes) -> bytes:
        """What the endpoint answers with status 200; tried again, a bounded number of times, while it is busy."""
        headers = self._headers()
        for tried in range(1, EMBEDDING_REQUEST_TRIES + 1):
            last = tried == EMBEDDING_REQUEST_TRIES
            try:
                status, content = self._ask(body, headers)
            except TimeoutError:
                raise self._trouble(f"did not answer within {self._endpoint.timeout_s:g} s") from None
            except (OSError, http.client.HTTPException) as fault:
                if last:
                    raise self._trouble(f"cannot be reached ({_reason(fault)})") from None
            else:
                if status == _OK:
                    return content
                if status in _REFUSED:
                    raise InputRefused(f"{NAME}: {self._endpoint.shown} refuses the input (status {status})")
                if status not in _BUSY or last:
                    advice = f"; {_ADVICE[status]}" if status in _ADVICE else ""
                    raise self._trouble(f"answered status {status}{advice}")
            time.sleep(EMBEDDING_RETRY_FIRST_MS * (1 << (tried - 1)) / 1000)
        raise AssertionError("the last try returns or raises")

    def _trouble(self, what: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"{NAME}: {self._endpoint.shown} {what}")

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        key = os.environ.get(self._endpoint.key_variable, "").strip()
        if not key:
            return headers
        if not key.isascii() or not key.isprintable():
            raise EmbedderUnavailable(f"{NAME}: the key in ${self._endpoint.key_variable} is not printable ASCII")
        if not self._endpoint.secure and self._endpoint.host not in _LOOPBACK:
            raise EmbedderUnavailable(
                f"{NAME}: {self._endpoint.shown} is not encrypted, and the key in ${self._endpoint.key_variable} is "
                "not sent over it; use https, or name an unset variable in embedding.openai.key_variable"
            )
        return {**headers, "Authorization": f"Bearer {key}"}

    def _ask(self, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        """One request: status and content. Raises TimeoutError when the whole of it takes too long."""
        deadline = time.monotonic() + self._endpoint.timeout_s
        connection = self._connection()
        try:
            connection.request("POST", self._endpoint.path, body, headers)
            response = connection.getresponse()
            content = bytearray()
            # A socket's own time-out starts anew with every byte that arrives.
            while chunk := response.read1(_CHUNK):
                content += chunk
                if len(content) > EMBEDDING_RESPONSE_BYTES_MAX:
                    raise http.client.HTTPException("the answer is too long")
                if time.monotonic() > deadline:
                    raise TimeoutError
            if response.length:
                raise http.client.IncompleteRead(bytes(content), response.length)
            return response.status, bytes(content)
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        of = self._endpoint
        if of.secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(of.host, of.port, timeout=of.timeout_s, context=context)
        return http.client.HTTPConnection(of.host, of.port, timeout=of.timeout_s)


def _reason(fault: Exception) -> str:
    return (fault.strerror if isinstance(fault, OSError) else None) or type(fault).__name__


def _read(content: bytes, count: int) -> list[bytes]:
    """The vectors of an answer, in the order of the inputs; raises ValueError that says what is wrong with it."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list) or len(entries) != count:
        raise ValueError(f"'data' must be a list of {count}, one entry for each input")
    vectors: dict[int, bytes] = {}
    for place, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise ValueError(f"data[{place}] must be an object")
        index = entry.get("index", place)
        if type(index) is not int or not 0 <= index < count or index in vectors:
            raise ValueError(f"data[{place}].index must name one input, each once")
        vectors[index] = _vector(entry.get("embedding"), place)
    return [vectors[index] for index in range(count)]


def _vector(numbers: object, place: int) -> bytes:
    if not isinstance(numbers, list) or not all(type(number) in (int, float) for number in numbers):
        raise ValueError(f"data[{place}].embedding must be a list of numbers")
    try:
        return unit_vector(numbers)
    except (ValueError, OverflowError):
        raise ValueError(f"data[{place}].embedding has no direction") from None
