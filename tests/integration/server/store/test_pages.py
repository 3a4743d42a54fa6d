"""Pages: every row once, in a stable order, while others change."""

import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.server.store import deployments
from fairway.server.store.deployments import DeploymentFilter, list_deployments
from fairway.server.store.errors import UnusableInput
from fairway.server.store.page import DEFAULT_LIMIT, LARGEST_LIMIT, Page, PageRequest, Sort
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


@pytest.mark.parametrize(
    ("sort", "ascending", "ids"),
    [
        pytest.param(None, None, ["d-3", "d-1", "d-2", "d-0"], id="newest change first when nobody says"),
        pytest.param(Sort.LAST_CHANGE, False, ["d-3", "d-1", "d-2", "d-0"], id="newest change first"),
        pytest.param(Sort.LAST_CHANGE, True, ["d-0", "d-2", "d-1", "d-3"], id="longest unchanged first"),
        pytest.param(Sort.CREATION, None, ["d-2", "d-3", "d-0", "d-1"], id="newest first"),
        pytest.param(Sort.CREATION, True, ["d-1", "d-0", "d-3", "d-2"], id="oldest first"),
    ],
)
@pytest.mark.parametrize("wanted", [{}, {"labels": {"team": "a"}}, {"application_ids": ("a-1", "a-2")}], ids=str)
async def test_deployments_are_paged_in_the_order_that_is_asked_for(
    store: Store, wanted: dict[str, Any], sort: Sort | None, ascending: bool | None, ids: list[str]
) -> None:
    moments = ((0, 0), (0, 5), (1, 0), (1, 9))
    made = [
        a_deployment(
            id=f"d-{number}",
            application_id=f"a-{number % 2 + 1}",
            labels={"team": "a"},
            created_at=minutes(created),
            updated_at=minutes(created + changed),
        )
        for number, (created, changed) in enumerate(moments)
    ]
    await keep(store, deployments.insert_deployment, *made)
    filter = DeploymentFilter(project_id="shop", **wanted)

    async def page(cursor: str) -> Page[Deployment]:
        request = PageRequest(cursor, 1, sort, ascending)
        return await store.read(lambda connection: list_deployments(connection, filter, request))

    assert [found.id for each in await all_pages(page) for found in each.items] == ids


@pytest.mark.parametrize(
    ("sort", "ids"),
    [
        pytest.param(Sort.LAST_CHANGE, ["d-1", "d-0"], id="changed then"),
        pytest.param(Sort.CREATION, ["d-2", "d-1"], id="created then"),
    ],
)
@pytest.mark.parametrize("labels", [{}, {"team": "a"}], ids=["any", "labelled"])
async def test_deployments_of_a_span_are_those_that_what_they_are_sorted_by_lies_in(
    store: Store, labels: dict[str, str], sort: Sort, ids: list[str]
) -> None:
    made = [
        a_deployment(id=f"d-{n}", labels={"team": "a"}, created_at=minutes(n), updated_at=minutes(n + 1))
        for n in range(4)
    ]
    await keep(store, deployments.insert_deployment, *made)
    filter = DeploymentFilter(project_id="shop", labels=labels, since=minutes(1), until=minutes(3))

    page = await store.read(lambda connection: list_deployments(connection, filter, PageRequest(sort=sort)))

    assert [deployment.id for deployment in page.items] == ids


async def test_a_cursor_is_of_use_only_in_the_order_of_its_page(store: Store) -> None:
    await keep(store, deployments.insert_deployment, *(a_deployment(id=f"d-{number}") for number in range(3)))
    filter = DeploymentFilter(project_id="shop")
    orders = [(sort, ascending) for sort in (Sort.LAST_CHANGE, Sort.CREATION) for ascending in (False, True)]

    async def page(cursor: str, sort: Sort, ascending: bool) -> Page[Deployment]:
        request = PageRequest(cursor, 1, sort, ascending)
        return await store.read(lambda connection: list_deployments(connection, filter, request))

    cursors = {order: (await page("", *order)).cursor for order in orders}
    for cursor, order in itertools.product(cursors, orders):
        if cursor == order:
            assert (await page(cursors[cursor], *order)).items
        else:
            with pytest.raises(UnusableInput, match="is no cursor of a list in this order"):
                await page(cursors[cursor], *order)


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
