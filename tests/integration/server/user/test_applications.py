"""Applications through APIService: added, found, moved, switched, renamed and deleted."""

import asyncio
from pathlib import Path

import grpc
import msgspec
import pytest

from fairway.model.agent import AgentProfile
from fairway.model.application import Application, ApplicationKind, GitPath, Repository
from fairway.rpc.convert.application import to_wire_deploy_targets
from fairway.rpc.user_api import messages as m
from fairway.server.hints import HintTopic
from fairway.server.store import applications
from fairway.server.user_service.filters import MOST_IDS, MOST_LABELS
from tests.integration.server.user.serving import Serving, code_of, refusal, serving
from tests.unit.server.user.builders import NOW, SHOP, an_agent, an_application


def an_addition(path: str = "apps/cart", repository: str = "shop", **fields: object) -> m.AddApplicationRequest:
    git_path = {"repo": {"id": repository}, "path": path, "config_filename": "app.pipecd.yaml"}
    return m.AddApplicationRequest(**{"name": "cart", "piped_id": "agent-1", "git_path": git_path, **fields})  # type: ignore[arg-type]  # fields of a message, as words


async def stored(served: Serving, application_id: str) -> Application:
    return await served.store.read(lambda connection: applications.load_application(connection, application_id))


async def test_an_application_is_added_with_what_its_agent_says_of_the_repository(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent())

        added = await client.AddApplication(
            an_addition("apps/cart/", kind=4, platform_provider="dev", labels={"env": "dev"}, description="Baskets")
        )

        assert added.application_id == "new-1"
        assert await stored(served, "new-1") == Application(
            id="new-1",
            name="cart",
            agent_id="agent-1",
            project_id="acme",
            kind=ApplicationKind.CLOUDRUN,
            git_path=GitPath(repository=SHOP, path="apps/cart", config_filename="app.pipecd.yaml"),
            platform_provider="dev",
            description="Baskets",
            labels={"env": "dev"},
            created_at=NOW,
            updated_at=NOW,
        )
        assert served.hints.published == [("agent-1", HintTopic.APPLICATIONS)]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        pytest.param(an_addition(repository="other"), grpc.StatusCode.NOT_FOUND, id="repository not reported"),
        pytest.param(an_addition(piped_id="nobody"), grpc.StatusCode.NOT_FOUND, id="unknown agent"),
        pytest.param(an_addition("apps/../../etc"), grpc.StatusCode.INVALID_ARGUMENT, id="path out of the repository"),
        pytest.param(an_addition("/apps/cart"), grpc.StatusCode.INVALID_ARGUMENT, id="absolute path"),
        pytest.param(an_addition("apps/there"), grpc.StatusCode.ALREADY_EXISTS, id="path taken"),
        pytest.param(an_addition("apps/there/"), grpc.StatusCode.ALREADY_EXISTS, id="path taken, with a slash"),
        pytest.param(an_addition(kind=99), grpc.StatusCode.INVALID_ARGUMENT, id="unknown kind"),
    ],
)
async def test_an_application_that_cannot_live_there_is_not_added(
    tmp_path: Path, request_: m.AddApplicationRequest, code: grpc.StatusCode
) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("there"))

        assert await code_of(client.AddApplication(request_)) is code
        assert len((await client.ListApplications(m.ListApplicationsRequest())).applications) == 1
        assert served.hints.published == []


async def test_the_path_of_a_deleted_application_is_free_again(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("cart"))

        await client.DeleteApplication(m.DeleteApplicationRequest(application_id="cart"))

        assert (await client.AddApplication(an_addition("apps/cart"))).application_id == "new-1"


async def test_moving_an_application_tells_both_agents(tmp_path: Path) -> None:
    other = Repository(id="shop", remote="https://git.acme.dev/shop", branch="trunk")
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_agent("agent-2", profile=AgentProfile(repositories=(other,))))
        await served.add(an_application("cart", platform_provider="old"))

        await client.UpdateApplication(
            m.UpdateApplicationRequest(
                application_id="cart",
                piped_id="agent-2",
                platform_provider="new",
                git_path={"repo": {"id": "shop"}, "path": "apps/basket", "config_filename": "app.pipecd.yaml"},
            )
        )

        assert await stored(served, "cart") == an_application(
            "cart",
            agent_id="agent-2",
            platform_provider="new",
            git_path=GitPath(repository=other, path="apps/basket", config_filename="app.pipecd.yaml"),
        )
        assert {agent for agent, _ in served.hints.published} == {"agent-1", "agent-2"}


async def test_an_application_may_keep_its_own_path(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("cart"), an_application("web"))
        git_path = {"repo": {"id": "shop"}, "path": "apps/cart", "config_filename": "app.pipecd.yaml"}

        def move(id: str) -> m.UpdateApplicationRequest:
            return m.UpdateApplicationRequest(application_id=id, piped_id="agent-1", git_path=git_path)

        assert await code_of(client.UpdateApplication(move("cart"))) is grpc.StatusCode.OK
        assert await code_of(client.UpdateApplication(move("web"))) is grpc.StatusCode.ALREADY_EXISTS


async def test_an_application_is_switched_off_and_on(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("cart"))

        await client.DisableApplication(m.DisableApplicationRequest(application_id="cart"))
        off = await stored(served, "cart")
        await client.EnableApplication(m.EnableApplicationRequest(application_id="cart"))
        await client.EnableApplication(m.EnableApplicationRequest(application_id="cart"))

        assert off == an_application("cart", disabled=True)
        assert await stored(served, "cart") == an_application("cart")


async def test_a_deleted_application_is_shown_but_neither_listed_nor_changed(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("cart"))
        await client.DeleteApplication(m.DeleteApplicationRequest(application_id="cart"))

        enabled = await refusal(client.EnableApplication(m.EnableApplicationRequest(application_id="cart")))
        shown = await client.GetApplication(m.GetApplicationRequest(application_id="cart"))
        listed = await client.ListApplications(m.ListApplicationsRequest(disabled=True))

        assert enabled[0] is grpc.StatusCode.FAILED_PRECONDITION
        assert shown.application.deleted
        assert listed == m.ListApplicationsResponse()


async def test_a_file_is_renamed_for_all_applications_or_for_none(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("cart"), an_application("web"))

        def rename(*ids: str) -> m.RenameApplicationConfigFileRequest:
            return m.RenameApplicationConfigFileRequest(application_ids=ids, new_filename="new.pipecd.yaml")

        refused = await code_of(client.RenameApplicationConfigFile(rename("cart", "nobody")))
        untouched = await stored(served, "cart")
        await client.RenameApplicationConfigFile(rename("cart", "web", "cart"))

        assert refused is grpc.StatusCode.NOT_FOUND
        assert untouched == an_application("cart")
        names = [(await stored(served, id)).git_path.config_filename for id in ("cart", "web")]
        assert names == ["new.pipecd.yaml"] * 2


async def test_deploy_targets_are_replaced_and_what_a_v0_agent_needs_stays(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("cart", platform_provider="dev"))

        await client.UpdateApplicationDeployTargets(
            m.UpdateApplicationDeployTargetsRequest(
                application_id="cart", deploy_targets_by_plugin=to_wire_deploy_targets({"kubernetes": ("dev",)})
            )
        )

        targets = {"kubernetes": ("dev",)}
        moved = an_application("cart", platform_provider="dev", deploy_targets_by_plugin=targets)
        assert await stored(served, "cart") == moved


async def test_lists_filter_by_label_before_a_page_is_cut(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(*(an_application(f"app-{n}", labels={"odd": str(n % 2)}) for n in range(10)))

        pages: list[list[str]] = []
        request = m.ListApplicationsRequest(labels={"odd": "1"}, limit=2)
        while request.cursor or not pages:
            answer = await client.ListApplications(request)
            pages.append([application.id for application in answer.applications])
            request.cursor = answer.cursor
            if not answer.cursor:
                break

        assert pages == [["app-1", "app-3"], ["app-5", "app-7"], ["app-9"]]


async def test_lists_show_enabled_or_disabled_applications_of_the_project(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_application("on"), an_application("off", disabled=True))
        await served.add(msgspec.structs.replace(an_application("foreign"), project_id="other"))

        lists = [
            [
                found.id
                for found in (await client.ListApplications(m.ListApplicationsRequest(disabled=off))).applications
            ]
            for off in (False, True)
        ]

        assert lists == [["on"], ["off"]]


async def test_a_refusal_names_what_the_agent_has(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent())

        _, words = await refusal(client.AddApplication(an_addition(repository="other")))

        assert words == (
            "agent agent-1 reports no repository 'other', it has shop; "
            "name one of those, or add it to the agent's file and start the agent"
        )


async def test_of_two_that_want_one_place_at_once_one_gets_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent())

        codes = await asyncio.gather(*(code_of(client.AddApplication(an_addition())) for _ in range(8)))

        assert sorted(code.name for code in codes) == ["ALREADY_EXISTS"] * 7 + ["OK"]


async def test_the_longest_filter_that_is_allowed_is_answered(tmp_path: Path) -> None:
    labels = {f"key-{n}": "x" for n in range(MOST_LABELS)}
    ids = [f"app-{n}" for n in range(MOST_IDS)]
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_application("cart", labels=labels))

        found = await client.ListApplications(m.ListApplicationsRequest(labels=labels))
        none = await client.ListDeployments(m.ListDeploymentsRequest(labels=labels, application_ids=ids))

        assert [application.id for application in found.applications] == ["cart"]
        assert none == m.ListDeploymentsResponse()
