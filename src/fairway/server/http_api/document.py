"""The OpenAPI document: what Litestar makes of the routes, and what holds for all of them and it does not see.

Served at one path only; what is below that path is not there, as anywhere else.
"""

from typing import Any

import msgspec
from litestar import Request, Router
from litestar.exceptions import NotFoundException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme

from fairway import __version__
from fairway.server.http_api.fields import complete_body
from fairway.server.http_api.parameters import described

PATH = "/api/v1/openapi.json"
#: How a request under /api/v1 may say who makes it: one of these.
SECURITY: list[dict[str, list[str]]] = [{"apiKey": []}, {"session": []}]

#: What is sent as it is read, and as what.
_STREAMED = {
    "/api/v1/audit/export": ("application/jsonl", "text/csv"),
    "/api/v1/deployments/{deployment_id}/stages/{stage_id}/log.txt": ("text/plain",),
}
_PROJECT = {
    "name": "project",
    "in": "query",
    "required": False,
    "description": "The project that the request is about. A key has its own, a person may say it.",
    "schema": {"type": "string"},
}


def documented(cookie: str) -> OpenAPIConfig:
    """How the document is made; `cookie` is the name of the one that carries a session."""
    bearer = SecurityScheme(type="http", scheme="bearer", description="An API key of the project.")
    session = SecurityScheme(
        type="apiKey",
        name=cookie,
        security_scheme_in="cookie",
        description="The session of a person; all but GET and HEAD need its token in the header X-CSRF-Token too.",
    )
    return OpenAPIConfig(
        title="Fairway",
        version=__version__,
        openapi_router=Router(PATH, route_handlers=[], include_in_schema=False, before_request=_only_the_document),
        render_plugins=[_Document(path="/")],
        use_handler_docstrings=True,
        components=Components(security_schemes={"apiKey": bearer, "session": session}),
    )


class _Document(JsonRenderPlugin):
    """The document as bytes, made once."""

    _bytes: bytes = b""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:  # noqa: ARG002  # Litestar's
        """The whole document."""
        if not self._bytes:
            self._bytes = msgspec.json.encode(completed(openapi_schema))
        return self._bytes


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with what holds for all routes: bodies take no other fields, each request may name a project."""
    schemas = {name: dict(schema) for name, schema in document.get("components", {}).get("schemas", {}).items()}
    paths: dict[str, Any] = {}
    for path, item in document["paths"].items():
        paths[path] = {method: _completed(path, method, operation, schemas) for method, operation in item.items()}
    return {**document, "paths": paths, "components": {**document.get("components", {}), "schemas": schemas}}


def _completed(path: str, method: str, operation: Any, schemas: dict[str, Any]) -> Any:
    if not path.startswith("/api/v1/"):
        return operation
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = str(body.get("$ref", "")).rpartition("/")[2]
    if name in schemas:
        complete_body(name, schemas)
        # A body in which nothing must stand may be left out, unless it is all that there will be.
        required = method == "put" or bool(schemas[name].get("required"))
        operation = {**operation, "requestBody": {**operation["requestBody"], "required": required}}
    if path in _STREAMED:
        content = {kind: {"schema": {"type": "string"}} for kind in _STREAMED[path]}
        responses = operation["responses"]
        operation = {**operation, "responses": {**responses, "200": {**responses["200"], "content": content}}}
    parameters = [described(path, parameter) for parameter in operation.get("parameters", [])]
    return {**operation, "parameters": [*parameters, _PROJECT]}


def _only_the_document(request: Request[Any, Any, Any]) -> None:
    """Litestar has a page of HTML for what is below the document; we have nothing there."""
    if request.path_params:
        raise NotFoundException
