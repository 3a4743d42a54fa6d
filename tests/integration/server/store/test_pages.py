"""Pages: every row once, in a stable order, while others change."""

from collections.abc import Awaitable, Callable

import msgspec
import pytest

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.server.store import deployments
from fairway.server.store.deployments import DeploymentFilter, list_deployments
from fairway.server.store.errors import UnusableInput
from fairway.server.store.page import DEFAULT_LIMIT, LARGEST_LIMIT, Page, PageRequest
from fairway.server.store.store import Store
from tests.integration.server.store.nouns import keep, minutes
from tests.unit.model.builders import a_deployment


async def test_pages_show_each_deployment_once_newest_change_first(store: Store) -> None:
    made = [a_deployment(id=f"d-{number}", updated_at=minutes(number // 2)) for number in range(7)]
    await keep(store, deployments.insert_deployment, *made)

    pages = await all_pages(lambda cursor: a_page(store, cursor, limit=2))

    assert [[deployment.id for deployment in page.items] for page in pages] == [
        ["d-6", "d-4"],
        ["d-5", "d-2"],
        ["d-3", "d-0"],
        ["d-1"],
    ]


async def test_a_list_that_ends_with_a_full_page_says_so(store: Store) -> None:
    await keep(store, deployments.insert_deployment, *(a_deployment(id=f"d-{number}") for number in range(4)))

    pages = await all_pages(lambda cursor: a_page(store, cursor, limit=2))

    assert [len(page.items) for page in pages] == [2, 2]


async def test_rows_that_stay_as_they_are_are_all_met_while_others_change(store: Store) -> None:
    made = [a_deployment(id=f"d-{number}", updated_at=minutes(number)) for number in range(6)]
    await keep(store, deployments.insert_deployment, *made)

    def touched(found: Deployment) -> Deployment:
        return msgspec.structs.replace(found, updated_at=minutes(60))

    first = await a_page(store, "", limit=2)
    for id in ("d-5", "d-1"):
        await change(store, id, touched)
    await keep(store, deployments.insert_deployment, a_deployment(id="new", updated_at=minutes(61)))
    rest = await all_pages(lambda cursor: a_page(store, cursor or first.cursor, limit=2))

    ids = [deployment.id for page in (first, *rest) for deployment in page.items]
    assert ids == ["d-5", "d-4", "d-3", "d-2", "d-0"]


async def test_open_work_is_never_hidden_by_a_change_while_it_is_paged(store: Store) -> None:
    made = [a_deployment(id=f"d-{number}", created_at=minutes(number // 2)) for number in range(5)]
    ended = a_deployment(id="ended", status=DeploymentStatus.CANCELLED)
    await keep(store, deployments.insert_deployment, *made, ended, a_deployment(id="foreign", agent_id="agent-2"))

    async def page(cursor: str) -> Page[Deployment]:
        return await store.read(lambda c: deployments.list_open_deployments(c, "agent-1", cursor, 2))

    first = await page("")
    await change(store, "d-3", lambda found: msgspec.structs.replace(found, updated_at=minutes(60)))
    rest = await all_pages(lambda cursor: page(cursor or first.cursor))

    ids = [deployment.id for part in (first, *rest) for deployment in part.items]
    assert ids == ["d-0", "d-1", "d-2", "d-3", "d-4"]


@pytest.mark.parametrize(
    "cursor", ["x", "Å", "W10=", "WzEsMl0=", "WzFlMzAwLCAiYSJd", "WzkyMjMzNzIwMzY4NTQ3NzU4MDgsICIiXQ=="]
)
async def test_a_cursor_that_no_page_gave_is_refused(store: Store, cursor: str) -> None:
    with pytest.raises(UnusableInput, match="is no cursor"):
        await a_page(store, cursor, limit=2)


@pytest.mark.parametrize(
    ("limit", "size"),
    [
        pytest.param(0, DEFAULT_LIMIT, id="none said"),
        pytest.param(-5, DEFAULT_LIMIT, id="less than nothing"),
        pytest.param(7, 7, id="seven"),
        pytest.param(2**31 - 1, LARGEST_LIMIT, id="too much"),
    ],
)
def test_a_page_has_a_size_that_we_can_afford(limit: int, size: int) -> None:
    assert PageRequest(limit=limit).size == size


async def a_page(store: Store, cursor: str, limit: int) -> Page[Deployment]:
    filter = DeploymentFilter(project_id="shop")
    return await store.read(lambda connection: list_deployments(connection, filter, PageRequest(cursor, limit)))


async def all_pages(page: Callable[[str], Awaitable[Page[Deployment]]]) -> list[Page[Deployment]]:
    pages = [await page("")]
    while pages[-1].cursor:
        pages.append(await page(pages[-1].cursor))
    return pages


async def change(store: Store, id: str, change: Callable[[Deployment], Deployment]) -> None:
    await store.write(lambda connection: deployments.update_deployment(connection, id, change))
