"""Chains of deployments, block by block, as JSON. They have no labels: who may see only some labels sees none."""

import msgspec
from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath

from fairway.model.chain import DeploymentChain
from fairway.server.actions import reading
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.query import ordered_page
from fairway.server.store.page import PageRequest


class ChainPage(msgspec.Struct, frozen=True):
    """Some chains, newest first."""

    items: tuple[DeploymentChain, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


@get(
    "/chains",
    summary="The deployment chains of the project.",
    tags=["chains"],
    responses=REFUSALS,
    dependencies={"asked": Provide(ordered_page)},
)
async def list_chains(request: ApiRequest, asked: NamedDependency[PageRequest]) -> ChainPage:
    """Newest first."""
    found = await reading.list_chains(desk_of(request).actions, request.auth, asked)
    return ChainPage(found.items, found.cursor)


@get("/chains/{chain_id:str}", summary="One deployment chain.", tags=["chains"], responses=REFUSALS)
async def get_chain(request: ApiRequest, chain_id: FromPath[str]) -> DeploymentChain:
    """The chain with this id, its blocks in the order they run."""
    return await reading.get_chain(desk_of(request).actions, request.auth, chain_id)


ROUTES = (list_chains, get_chain)
