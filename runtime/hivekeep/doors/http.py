"""The HTTP door: a Falcon ASGI application over one dispatch server.

What it keeps true:
- The paths, who may ask and what a header is called are those of the contract (`hivekeep_contract.routes`).
- Nothing is read from a request before its Host, Origin and, unless the route is open, its token were accepted.
- Every answer is ours, Falcon's own 404, 405 and 400 included: one entry of the request language, or the
  gateway's envelope under its prefix. No exception text and no stack trace reaches a client.
- The door holds no rule of a verb. It says who is asking (headers, honoured because the token was right),
  drives the steps, and takes the status from the error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import falcon
import falcon.asgi

from hivekeep import compact_json
from hivekeep.dispatch.gateway import LONG_BODY_BYTES, Asked, typed
from hivekeep.doors import gateway, mcp, pages, refusals, wire
from hivekeep.doors.driver import Driver
from hivekeep.gate.credentials import holds_credential
from hivekeep.identity.caller import Caller, make_caller
from hivekeep.request.envelope import ToolCall, parse_tool_call
from hivekeep.wiring import open_gateway
from hivekeep_contract import errors
from hivekeep_contract.gateway import INSTANCE_HEADER, RETRY_HEADER
from hivekeep_contract.gateway_errors import AuthenticationError, NotFound, SecurityRejection, ValidationError
from hivekeep_contract.limits import HTTP_BODY_MAX_BYTES
from hivekeep_contract.routes import (
    ACTOR_HEADER,
    GATEWAY_PREFIX,
    GUARDED_PATHS,
    NAMESPACE_HEADER,
    ROUTES,
    SESSION_HEADER,
    VERB_QUERY,
    Route,
)
from hivekeep_contract.vocabulary import ENUMS

if TYPE_CHECKING:
    from hivekeep.dispatch.run import Answer, Server
    from hivekeep.doors.auth import Guard

JSON_TYPE = "application/json; charset=utf-8"
_MEDIA_TYPE = "application/json"
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
JSON_HEADERS = [("content-type", JSON_TYPE), *_HEADERS.items()]
"""What every JSON answer has beside its length."""
_PLACES_REMEMBERED = 256
_CALLERS_REMEMBERED = 1024
_GATEWAY_PATH = re.compile(rf"{re.escape(GATEWAY_PREFIX)}(?:/.*)?\Z", re.DOTALL)
_VERB_BY_PATH = {route.path: route.name for route in ROUTES.values() if route.serves == "verb"}

Response: TypeAlias = falcon.asgi.Response
App: TypeAlias = "falcon.asgi.App[Request, Response]"


class Request(falcon.asgi.Request):
    """Falcon's request, which also keeps the event it came with."""

    __slots__ = ("_events", "first_event")

    def __init__(
        self,
        scope: dict[str, Any],
        receive: Any,
        first_event: Mapping[str, Any] | None = None,
        options: falcon.RequestOptions | None = None,
    ) -> None:
        super().__init__(scope, receive, first_event, options)
        self.first_event = first_event
        self._events = receive

    async def gone(self) -> None:
        """Return when the client has gone or the server is told to stop; for requests whose body has been read."""
        await self._events()

    async def body(self, limit: int) -> bytes:
        """The whole body. Raises PayloadTooLarge for more than `limit` bytes.

        The rest is read and dropped first, so that the client gets to see the refusal.
        """
        first = self.first_event
        if first is not None and not first.get("more_body"):
            # Nearly every body comes with its request: there is nothing to put together.
            whole: bytes = first.get("body", b"")
        else:
            whole = await self.stream.read(limit + 1)
        if len(whole) > limit:
            await self.stream.exhaust()
            raise errors.PayloadTooLarge(f"the body has more than {limit} bytes", max_bytes=limit)
        return whole


class Door:
    """What the routes share: the dispatch servers and their driver, the guard, and whether we are ready.

    `body_limit` is in bytes; `instance_id` names the server to those that it lets in.
    """

    def __init__(self, server: Server, guard: Guard, body_limit: int, instance_id: str = "") -> None:
        self.server = server
        self.gateway = open_gateway(server)
        self.guard = guard
        self.body_limit = body_limit
        self.instance_id = instance_id
        self.ready = True
        self.driver = Driver(server.engine, server.around.settings.storage_max_readers)
        self._tool: dict[str, Any] | None = None
        # By the headers as they came; what is remembered is bounded because clients choose it.
        self._places: set[tuple[str | None, str | None]] = set()
        self._callers: dict[tuple[str | None, ...], Caller] = {}

    def check_origin(self, req: Request) -> None:
        """Raise ForeignOrigin unless Host and Origin name this machine."""
        place = (req.get_header("Host"), req.get_header("Origin"))
        if place in self._places:
            return
        if not self.guard.host_ok(_header(req, "Host")):
            raise errors.ForeignOrigin("the Host of the request is not this machine")
        if not self.guard.origin_ok(_header(req, "Origin")):
            raise errors.ForeignOrigin("the Origin of the request is not this machine")
        if len(self._places) < _PLACES_REMEMBERED:
            self._places.add(place)

    def admit(self, req: Request) -> None:
        """Raise ForeignOrigin or Unauthorized unless the request may be served."""
        self.check_origin(req)
        if not self.guard.token_ok(_header(req, "Authorization")):
            raise errors.Unauthorized("the bearer token is missing or wrong")

    def caller(self, req: Request) -> Caller:
        """Who is asking: the caller its headers name, the anonymous one when they name nobody."""
        named = (req.get_header(ACTOR_HEADER), req.get_header(NAMESPACE_HEADER), req.get_header(SESSION_HEADER))
        known = self._callers.get(named)
        if known is None:
            actor, namespace, session = (
                _text_header(req, name) for name in (ACTOR_HEADER, NAMESPACE_HEADER, SESSION_HEADER)
            )
            known = make_caller(actor, namespace, (), session)
            if len(self._callers) == _CALLERS_REMEMBERED:
                self._callers.clear()  # sessions end, and the next ones shall have a place too
            self._callers[named] = known
        return known

    def tool(self) -> dict[str, Any]:
        """The definition of the MCP tool, built at the first `tools/list`."""
        if self._tool is None:
            self._tool = mcp.load_tool(frozenset(self.server.around.packs))
        return self._tool

    async def answer(self, call: ToolCall, req: Request, source: str) -> dict[str, Any]:
        """The envelope of a tool call. Raises the request-level errors of dispatch."""
        envelope: dict[str, Any] = await self.driver.drive(
            self.server.steps(call, self.caller(req), source=source), req.gone
        )
        return envelope

    def close(self) -> None:
        """Let the threads finish and close the store."""
        self.ready = False
        self.driver.close()
        self.server.engine.close()


class _Route:
    """A resource with one method; OPTIONS is refused like any other, because there is no CORS to negotiate."""

    def __init__(self, door: Door, route: Route) -> None:
        self._door = door
        self._route = route
        self._admit = door.check_origin if route.access == "open" else door.admit

    async def on_options(self, req: Request, resp: Response, **_fields: str) -> None:
        raise falcon.HTTPMethodNotAllowed([self._route.method])


class VerbRoute(_Route):
    """POST of one verb: the body is the arguments object, the answer one entry."""

    async def on_post(self, req: Request, resp: Response, verb: str | None = None) -> None:
        """`verb` is what a path names that is no verb's own; dispatch answers that there is no such verb."""
        self._admit(req)
        shape = _query(req)
        door = self._door
        arguments = await _json_object(req, door.body_limit)
        name = self._route.name if verb is None else verb
        steps = door.server.call_verb(
            name,
            arguments,
            door.caller(req),
            source="http",
            presentation=shape["presentation"],
            format=shape["format"],
        )
        answer: Answer = await door.driver.drive(steps, req.gone)
        _send_text(resp, _status_of(answer), answer.text)


class RequestRoute(_Route):
    """POST of the tool: the body is its argument object, the answer its envelope."""

    async def on_post(self, req: Request, resp: Response) -> None:
        self._admit(req)
        call = parse_tool_call(await _json_object(req, self._door.body_limit))
        _send(resp, 200, await self._door.answer(call, req, "http"))


class McpRoute(_Route):
    """POST of one MCP message (2025-03-26 allows a batch), answered with one JSON body."""

    async def on_post(self, req: Request, resp: Response) -> None:
        self._admit(req)
        _require_json(req)
        try:
            message = wire.decode(await req.body(self._door.body_limit))
        except ValueError:
            refusal = mcp.error(None, mcp.PARSE_ERROR, "the body is not a JSON message")
            _send(resp, mcp.http_status(refusal, stateless=True), refusal)
            return
        headers = {name: value for name in mcp.ROUTING_HEADERS if (value := _header(req, name)) is not None}
        if isinstance(message, list):
            await self._answer_batch(message, headers, req, resp)
            return
        reply = await self._answer(message, headers, req)
        if reply is None:
            resp.status = 202
            return
        _send(resp, mcp.http_status(reply, mcp.is_stateless(message, headers)), reply)

    async def _answer(self, message: object, headers: Mapping[str, str], req: Request) -> dict[str, Any] | None:
        reply = mcp.route(message, self._door.tool, headers=headers)
        if not isinstance(reply, mcp.Call):
            return reply
        try:
            return mcp.finish(reply, await self._door.answer(parse_tool_call(reply.arguments), req, "mcp"))
        except errors.HivekeepError as error:
            return mcp.refuse(reply, refusals.entry(error))
        except Exception as failure:
            return mcp.refuse(reply, refusals.entry(refusals.unexpected(failure)))

    async def _answer_batch(
        self, batch: list[object], headers: Mapping[str, str], req: Request, resp: Response
    ) -> None:
        # A client of 2025-03-26 has no version header to send; its absence means that revision.
        refusal = mcp.refuse_batch(batch, headers.get(mcp.VERSION_HEADER, mcp.BATCH_VERSION))
        if refusal is not None:
            _send(resp, 400, refusal)
            return
        replies = [reply for item in batch if (reply := await self._answer(item, headers, req)) is not None]
        if replies:
            _send(resp, 200, replies)
        else:
            resp.status = 202


class PageRoute(_Route):
    """GET of one printed page, read at its first request."""

    def __init__(self, door: Door, route: Route) -> None:
        super().__init__(door, route)
        self._body: bytes | None = None

    async def on_get(self, req: Request, resp: Response) -> None:
        self._admit(req)
        if self._body is None:
            self._body = pages.body(self._route)
        resp.data = self._body
        resp.content_type = pages.content_type(self._route)
        resp.set_headers(_HEADERS | pages.headers(self._route))


class RedirectRoute(_Route):
    """GET of a path that only says where something is."""

    async def on_get(self, req: Request, resp: Response) -> None:
        self._admit(req)
        resp.status = 302
        resp.set_header("Location", self._route.to)
        resp.set_headers(_HEADERS)


class LiveRoute(_Route):
    """GET that says that the process answers, and nothing else."""

    async def on_get(self, req: Request, resp: Response) -> None:
        self._admit(req)
        _send(resp, 200, {"ok": True})


class ReadyRoute(_Route):
    """GET: 200 while requests are served, 503 once the server is on its way out.

    Who has no token is told in the envelope of the gateway, whose clients ask this.
    """

    async def on_get(self, req: Request, resp: Response) -> None:
        try:
            self._admit(req)
        except errors.Unauthorized:
            _send_failure(resp, gateway.READY_OPERATION, AuthenticationError("bad_token"))
            return
        _send(resp, 200 if self._door.ready else 503, {"ok": self._door.ready})
        # A client that looks whether a reused process id is ours compares it with the descriptor.
        resp.set_header(INSTANCE_HEADER, self._door.instance_id)


_RESOURCES: dict[str, type[_Route]] = {
    "verb": VerbRoute,
    "tool": RequestRoute,
    "mcp": McpRoute,
    "live": LiveRoute,
    "ready": ReadyRoute,
    "page": PageRoute,
    "redirect": RedirectRoute,
}


class _Lifespan:
    """Closes the store when the worker has answered its last request."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def process_shutdown(self, scope: Mapping[str, Any], event: Mapping[str, Any]) -> None:
        self._door.close()


def create_app(door: Door) -> App:
    """The ASGI application of one server."""
    app: App = falcon.asgi.App(middleware=_Lifespan(door), request_type=Request)
    app.req_options.strip_url_path_trailing_slash = False
    for route in ROUTES.values():
        app.add_route(route.path, _RESOURCES[route.serves](door, route))
    app.add_sink(_gateway_sink(door), _GATEWAY_PATH)
    app.add_error_handler(Exception, _on_unexpected)
    app.add_error_handler(falcon.HTTPError, _on_http_error(door))
    app.add_error_handler(errors.HivekeepError, _on_refusal)
    return app


def _gateway_sink(door: Door) -> Any:
    """Answers below the gateway's prefix where no route of a verb does."""

    async def answer(req: Request, resp: Response, **_groups: str) -> None:
        target = gateway.locate(req.method, req.scope["raw_path"])
        try:
            _send_text(resp, 200, gateway.success_text(target.name, await _gateway_data(door, req, target)))
        except Exception as fault:
            _send_failure(resp, target.name, fault)

    return answer


async def _gateway_data(door: Door, req: Request, target: gateway.Target) -> Any:
    """The data of the answer. Raises the first failure in the gateway's order of checks (gateway rules, order)."""
    _admit_to_gateway(door, req)
    headers = req.scope["headers"]
    body, size = None, 0
    if req.method in gateway.BODY_METHODS:
        gateway.check_content_type(headers)
        raw = await _gateway_body(door, req)
        body, size = gateway.json_object(raw), len(raw)
    operation = target.operation
    if operation is None:
        raise NotFound("no_endpoint")
    if req.query_string and not operation.query:
        raise ValidationError("query_not_allowed")
    asked = Asked(
        operation,
        query=gateway.query_pairs(req.query_string),
        run_id=None if target.raw_run_id is None else gateway.run_id(target.raw_run_id),
        body=body,
        key=gateway.idempotency_key(headers) if operation.writes else None,
        long=size > LONG_BODY_BYTES,
    )
    return await door.driver.drive(door.gateway.steps(asked, _gateway_caller(door, req), source="http"), req.gone)


def _admit_to_gateway(door: Door, req: Request) -> None:
    try:
        door.admit(req)
    except errors.Unauthorized:
        raise AuthenticationError("bad_token") from None
    except errors.ForeignOrigin:
        raise ValidationError("foreign_host") from None


async def _gateway_body(door: Door, req: Request) -> bytes:
    try:
        return await req.body(min(door.body_limit, HTTP_BODY_MAX_BYTES))
    except errors.PayloadTooLarge:
        raise ValidationError("body_too_large") from None


def _gateway_caller(door: Door, req: Request) -> Caller:
    """Who is asking. Its name and namespace stand in the audit row and cannot be masked there (gateway rules,
    sanitising)."""
    try:
        for name in (ACTOR_HEADER, NAMESPACE_HEADER):
            text = _text_header(req, name)
            if text is not None and holds_credential(text):
                raise SecurityRejection("secret")
        return door.caller(req)
    except errors.InvalidParams:
        raise ValidationError("wrong_value") from None


def _send_failure(resp: Response, operation: str, fault: Exception) -> None:
    """The failure envelope of whatever went wrong, with the wait that the client is asked for."""
    error = typed(fault, operation)
    if error.retry_after_s is not None:
        resp.set_header(RETRY_HEADER, str(error.retry_after_s))
    _send(resp, error.status, gateway.failure(operation, error))


async def _on_refusal(req: Request, resp: Response, error: errors.HivekeepError, params: dict[str, Any]) -> None:
    _send(resp, error.http_status, refusals.entry(error, _verb_of(req, params)))


def _on_http_error(door: Door) -> Any:
    async def answer(req: Request, resp: Response, error: falcon.HTTPError, params: dict[str, Any]) -> None:
        refusal = _refused_entry(door, req) or _as_refusal(error)
        if isinstance(refusal, errors.MethodNotAllowed):
            resp.set_header("Allow", ", ".join(_methods(error)))
        _send(resp, refusal.http_status, refusals.entry(refusal, _verb_of(req, params)))

    return answer


async def _on_unexpected(req: Request, resp: Response, failure: Exception, params: dict[str, Any]) -> None:
    refusal = refusals.unexpected(failure)
    _send(resp, refusal.http_status, refusals.entry(refusal, _verb_of(req, params)))


def _verb_of(req: Request, params: Mapping[str, Any]) -> str | None:
    """The verb that the path names, known or not; None for the path of another route."""
    return params.get("verb") or _VERB_BY_PATH.get(req.path)


def _refused_entry(door: Door, req: Request) -> errors.HivekeepError | None:
    """Why a request for a guarded path is not let in: such a client does not learn which methods a path has."""
    if req.path in GUARDED_PATHS or req.path.startswith(f"{GATEWAY_PREFIX}/"):
        try:
            door.admit(req)
        except errors.HivekeepError as refusal:
            return refusal
    return None


def _methods(error: falcon.HTTPError) -> list[str]:
    """The methods that Falcon would allow, without OPTIONS, which no route answers."""
    named = dict(error.headers or ()).get("Allow", "").replace(" ", "").split(",")
    return [method for method in named if method != "OPTIONS"]


def _as_refusal(error: falcon.HTTPError) -> errors.HivekeepError:
    """Our error for one of Falcon's own."""
    if isinstance(error, falcon.HTTPMethodNotAllowed):
        return errors.MethodNotAllowed("the path does not take this method", allowed=_methods(error))
    if isinstance(error, falcon.HTTPNotFound):
        return errors.RouteNotFound(
            f"there is no such path; {ROUTES['docs'].path} tells people which there are, {ROUTES['openapi'].path} tools"
        )
    return errors.MalformedBody("the request is not well-formed HTTP for this path")


def _query(req: Request) -> dict[str, str]:
    """Presentation and format of the answer, from the query string.

    Raises InvalidParams for anything else in it.
    """
    if not req.query_string:
        return VERB_QUERY
    chosen = dict(VERB_QUERY)
    for name, value in req.params.items():
        if name not in VERB_QUERY:
            raise errors.InvalidParams(f"the query string takes {' and '.join(VERB_QUERY)} only")
        if value not in ENUMS[name]:
            raise errors.InvalidParams(f"{name} must be one of {', '.join(ENUMS[name])}")
        chosen[name] = value
    return chosen


async def _json_object(req: Request, limit: int) -> dict[str, Any]:
    """The body as a JSON object. Raises UnsupportedMediaType, PayloadTooLarge or MalformedBody."""
    _require_json(req)
    try:
        value = wire.decode(await req.body(limit))
    except ValueError:
        raise errors.MalformedBody("the body is not JSON") from None
    if not isinstance(value, dict):
        raise errors.MalformedBody("the body must be one JSON object")
    return value


def _require_json(req: Request) -> None:
    given = req.content_type or ""
    if given != _MEDIA_TYPE and given.partition(";")[0].strip().lower() != _MEDIA_TYPE:
        raise errors.UnsupportedMediaType(f"the body must be {_MEDIA_TYPE}")


def _header(req: Request, name: str) -> str | None:
    """A header without the blanks round it, which are no part of its value and which some parsers leave there."""
    value = req.get_header(name)
    return value if value is None else value.strip(" \t")


def _text_header(req: Request, name: str) -> str | None:
    """A header that carries UTF-8 text. Raises InvalidParams when its bytes are not UTF-8."""
    value = _header(req, name)
    if value is None:
        return None
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        raise errors.InvalidParams(f"the header {name} is not UTF-8") from None


def _status_of(answer: Answer) -> int:
    """200 for a success, else the status of the error.

    An entry that failed without an error is a success that was too large to send.
    """
    if answer.entry["ok"]:
        return 200
    return errors.ResponseFrameBudgetExceeded.http_status if answer.error is None else answer.error.http_status


def _send(resp: Response, status: int, value: Any) -> None:
    _send_text(resp, status, compact_json.encode(value))


def _send_text(resp: Response, status: int, text: bytes) -> None:
    resp.status = status
    resp.data = text
    resp.set_headers(JSON_HEADERS)
