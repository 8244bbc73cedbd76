"""Paths, headers, bodies and envelopes of the gateway, without a server."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.doors import gateway
from hivekeep_contract.gateway import OPERATIONS
from hivekeep_contract.gateway_errors import Backpressure, Conflict, IntegrityError, ValidationError
from hivekeep_contract.limits import GATEWAY_RESPONSE_MAX_BYTES
from support.gateway import path_of

RUN = "0a1b2c3d-0000-4000-8000-00000000000f"
KEY = b"idempotency-key"
TYPE = b"content-type"


def reason(refused: pytest.ExceptionInfo[ValidationError]) -> str:
    return refused.value.reason


class TestPaths:
    @pytest.mark.parametrize("name", sorted(OPERATIONS))
    def test_each_operation_has_its_path(self, name: str) -> None:
        """Its method and path lead to it, with the run id as the path spells it; any other method leads nowhere."""
        operation = OPERATIONS[name]
        target = gateway.locate(operation.http_method, path_of(operation, RUN).encode())
        assert (target.name, target.raw_run_id) == (name, RUN if operation.has_run else None)
        for method in ("PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"):
            assert gateway.locate(method, path_of(operation, RUN).encode()).name == "api.v1"

    @pytest.mark.parametrize(
        "path",
        [
            "/api/v1",
            "/api/v1/",
            "/api/v1/agent",
            "/api/v1/agent/run",
            "/api/v1/agent/runs/x/intake/",
            "/api/v1/agent/runs/x/events/",
            "/api/v1/agent/runs/x/y/events",
            "/api/v1/%61gent/runs",
            "/api/v1/agent%2Fruns",
            "/api/v1/agent/runs%2Fx",
            "//api/v1/agent/runs",
            "/API/v1/agent/runs",
            "/api/v1/context/query",
            "/api/v1/agent/runs/x/deliveries",
        ],
    )
    def test_a_path_is_taken_as_it_came(self, path: str) -> None:
        """No encoding, case, further slash or removed route leads to an operation."""
        assert gateway.locate("GET", path.encode()) == gateway.Target(None)

    def test_an_empty_run_id_is_a_run_id(self) -> None:
        """A path that ends where the run id should be names a run, badly: that is 400, not 404."""
        assert gateway.locate("GET", b"/api/v1/agent/runs/") == gateway.Target(OPERATIONS["agent.run.read"], "")
        with pytest.raises(ValidationError) as refused:
            gateway.run_id("")
        assert reason(refused) == "bad_run_id"

    @pytest.mark.parametrize(
        ("raw", "told"),
        [
            (RUN, RUN),
            ("a%20b", "a b"),
            ("%F0%9F%90%9D" * 128, "\U0001f41d" * 128),
            ("a+b", "a+b"),
            ("x" * 256, "x" * 256),
        ],
    )
    def test_a_run_id_is_decoded_once(self, raw: str, told: str) -> None:
        """Percent escapes are UTF-8, a plus is a plus, and 256 UTF-16 units are allowed."""
        assert gateway.run_id(raw) == told

    @pytest.mark.parametrize(
        "raw",
        [
            "a%2Fb",
            "a%5Cb",
            "a\\b",
            "a%00",
            "a%0A",
            "a%7F",
            "a%C2%85",
            "%FF",
            "a%",
            "a%2",
            "%zz",
            "x" * 257,
            "%F0%9F%90%9D" * 129,
        ],
    )
    def test_a_malformed_run_id_is_refused(self, raw: str) -> None:
        """Slashes, control characters, bytes that are no UTF-8, broken escapes and more than 256 units."""
        with pytest.raises(ValidationError) as refused:
            gateway.run_id(raw)
        assert reason(refused) == "bad_run_id"


class TestHeaders:
    @pytest.mark.parametrize("value", [b"application/json", b"Application/JSON", b"application/json ; charset=utf-8"])
    def test_the_content_type_is_json(self, value: bytes) -> None:
        """Case and parameters do not matter."""
        gateway.check_content_type([(TYPE, value)])

    @pytest.mark.parametrize(
        "values",
        [[], [b"text/plain"], [b"application/json-patch+json"], [b""], [b"application/json", b"application/json"]],
    )
    def test_there_must_be_one_content_type(self, values: list[bytes]) -> None:
        """None, another one, or the right one twice."""
        with pytest.raises(ValidationError) as refused:
            gateway.check_content_type([(TYPE, value) for value in values])
        assert reason(refused) == "content_type"

    @pytest.mark.parametrize("value", [b"k", b"a key with blanks", "schlüssel".encode(), b"k" * 256])
    def test_a_key_is_taken_as_it_came(self, value: bytes) -> None:
        """Blanks inside, other scripts, and up to 256 bytes."""
        assert gateway.idempotency_key([(KEY, value)]) == value.decode()

    @pytest.mark.parametrize(
        ("values", "told"),
        [
            ([], "key_missing"),
            ([b"a", b"a"], "key_missing"),
            ([b""], "key_malformed"),
            ([b"  "], "key_malformed"),
            ([b" k"], "key_malformed"),
            ([b"k\t"], "key_malformed"),
            (["\u3000k".encode()], "key_malformed"),
            ([b"a\x01b"], "key_malformed"),
            (["a\x85b".encode()], "key_malformed"),
            ([b"\xff"], "key_malformed"),
            ([b"k" * 257], "key_malformed"),
            (["ü".encode() * 129], "key_malformed"),
        ],
    )
    def test_a_key_that_cannot_be_one_is_refused(self, values: list[bytes], told: str) -> None:
        """Missing, twice, blank, blanks around it, control characters, no UTF-8, more than 256 bytes."""
        with pytest.raises(ValidationError) as refused:
            gateway.idempotency_key([(KEY, value) for value in values])
        assert reason(refused) == told

    def test_a_query_string_is_utf8(self) -> None:
        """Fields keep their order and blanks; bytes that are no UTF-8 are refused."""
        assert gateway.query_pairs("a=1&b=x%20y+z&a=") == [("a", "1"), ("b", "x y z"), ("a", "")]
        with pytest.raises(ValidationError) as refused:
            gateway.query_pairs("a=%ff")
        assert reason(refused) == "query_value"


class TestBodies:
    @pytest.mark.parametrize(
        ("body", "told"),
        [
            (b"", "not_json"),
            (b"{", "not_json"),
            (b"{} {}", "not_json"),
            (b'{"a": NaN}', "not_json"),
            (b'{"a": -Infinity}', "not_json"),
            (b'{"a": 1e999}', "not_json"),
            (b'{"a": "\xff"}', "not_json"),
            (b'\xef\xbb\xbf{"a": 1}', "not_json"),
            (b'{"a": "\\ud800"}', "not_json"),
            (b'{"\\uDFFF": 1}', "not_json"),
            (b'{"a": "\x01"}', "not_json"),
            (b'{"a": ' + b"9" * 5000 + b"}", "not_json"),
            (b'{"a": 1, "a": 1}', "duplicate_key"),
            (b'{"a": [{"b": 1, "\\u0062": 2}]}', "duplicate_key"),
            (b"[" * 3000 + b"]" * 3000, "nested_too_deep"),
            (b"[" * 300_000, "nested_too_deep"),
            (b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}", "nested_too_deep"),
            (b"[]", "not_an_object"),
            (b"null", "not_an_object"),
            (b'"x"', "not_an_object"),
        ],
    )
    def test_what_is_no_json_object_is_refused_with_a_word(self, body: bytes, told: str) -> None:
        """Syntax, numbers that JSON lacks, encoding, half of a surrogate pair, keys twice, depth, shape."""
        with pytest.raises(ValidationError) as refused:
            gateway.json_object(body)
        assert reason(refused) == told

    def test_what_json_can_hold_passes(self) -> None:
        """64 containers deep, big integers exactly, a whole surrogate pair, and blanks round it."""
        deep = b'{"a": ' + b"[" * 63 + b"]" * 63 + b"}"
        assert gateway.json_object(deep)["a"] != []
        assert gateway.json_object(b' {"n": 123456789012345678901234567890} ') == {"n": 123456789012345678901234567890}
        assert gateway.json_object(b'{"bee": "\\ud83d\\udc1d"}') == {"bee": "\U0001f41d"}

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=20,
        )
    )
    @settings(derandomize=True, max_examples=150, deadline=None)
    def test_a_written_value_is_read_back(self, value: Any) -> None:
        """Whatever JSON another program writes within the depth comes back equal."""
        assert gateway.json_object(json.dumps({"value": value}).encode()) == {"value": value}

    @given(st.binary(max_size=60))
    @settings(derandomize=True, max_examples=300, deadline=None)
    def test_no_bytes_raise_anything_else(self, body: bytes) -> None:
        """An object, or a ValidationError with a reason."""
        try:
            told = type(gateway.json_object(body)).__name__
        except ValidationError as refused:
            told = refused.reason
        assert told in ("dict", "not_json", "not_an_object", "duplicate_key", "nested_too_deep")


class TestEnvelopes:
    def test_the_whole_success(self) -> None:
        """apiVersion, ok, operation, data, and an empty meta."""
        told = gateway.success_text("agent.close", {"runId": RUN})
        assert json.loads(told) == {
            "apiVersion": "1",
            "ok": True,
            "operation": "agent.close",
            "data": {"runId": RUN},
            "meta": {},
        }

    def test_the_whole_failure(self) -> None:
        """Code and message of the class, and details with reason and field or with the seconds to wait."""
        assert gateway.failure("agent.open", Conflict("key_reused")) == {
            "apiVersion": "1",
            "ok": False,
            "operation": "agent.open",
            "error": {
                "code": "CONFLICT",
                "message": "conflicts with current state",
                "details": {"reason": "key_reused"},
            },
        }
        busy = gateway.failure("agent.open", Backpressure("busy", retry_after_s=1))
        assert busy["error"]["details"] == {"retryAfterSeconds": 1}

    def test_an_answer_has_a_largest_size(self) -> None:
        """One byte more than 2 MiB is an integrity error instead."""
        room = GATEWAY_RESPONSE_MAX_BYTES - len(gateway.success_text("agent.open", {"a": ""}))
        assert len(gateway.success_text("agent.open", {"a": "x" * room})) == GATEWAY_RESPONSE_MAX_BYTES
        with pytest.raises(IntegrityError) as refused:
            gateway.success_text("agent.open", {"a": "x" * (room + 1)})
        assert refused.value.reason == "response_too_large"
