"""What the files of a repository say about applications, registered or not, and which deployment is the newest."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.agent.applications import (
    KnownApplication,
    Registered,
    RepositoryView,
    Whose,
    files_of,
    reference_to,
    renamed,
    report_unregistered,
    view,
)
from fairway.config.application import ApplicationConfig
from fairway.config.read import Reading, read_application, read_application_file
from fairway.model.application import Application, ApplicationKind, DiscoveredApplication, GitPath, Repository
from fairway.rpc.agent_api import messages
from fairway.rpc.convert.application import MOST_REASON
from tests.unit.model.builders import NOW, a_deployment, an_application

WHOSE = Whose(repository_id="r-1", agent_id="agent-1")
COMMIT = "c0ffee00"


def a_file(name: str, labels: str = "{}", kind: str = "KubernetesApp") -> bytes:
    return (
        f"apiVersion: pipecd.dev/v1beta1\nkind: {kind}\nspec: {{name: {name}, labels: {labels}, description: It}}\n"
    ).encode()


def readings(**files: bytes) -> dict[str, Reading]:
    """The files of a commit, each in the directory of its name."""
    paths = {f"{name}/app.pipecd.yaml": text for name, text in files.items()}
    return {path: read_application_file(text, path) for path, text in paths.items()}


def registered(path: str, config_filename: str = "", **fields: object) -> Application:
    place = GitPath(repository=Repository(id="r-1"), path=path, config_filename=config_filename)
    return an_application(f"a-{path}", name=path, git_path=place, **fields)


def config_of(text: bytes) -> ApplicationConfig:
    return read_application(text, "app.pipecd.yaml")


def test_a_file_in_a_directory_whose_name_is_no_text_is_not_suggested() -> None:
    seen = view(COMMIT, readings(**{"caf\udce9": a_file("café"), "shop": a_file("shop")}), [], WHOSE)

    told = report_unregistered(seen.unregistered).request.SerializeToString()
    assert messages.ReportUnregisteredApplicationConfigurationsRequest.FromString(told).applications[0].path == "shop"
    assert len(seen.unregistered) == 1


def test_a_file_at_the_root_or_in_a_directory_of_one_letter_is_suggested_as_pipecds_server_takes_it() -> None:
    files = {path: read_application_file(a_file("shop"), path) for path in ("app.pipecd.yaml", "a/app.pipecd.yaml")}

    seen = view(COMMIT, files, [], WHOSE)

    assert [each.path for each in seen.unregistered] == ["./", "./a"]


def test_a_registered_file_is_known_and_any_other_is_suggested() -> None:
    web = registered("web")
    text = a_file("web")

    seen = view(COMMIT, readings(web=text, shop=a_file("shop", "{tier: front}")), [web], WHOSE)

    assert seen == RepositoryView(
        commit=COMMIT,
        known=(KnownApplication(application=web, commit=COMMIT, file="web/app.pipecd.yaml", config=config_of(text)),),
        unregistered=(
            DiscoveredApplication(
                name="shop",
                agent_id="agent-1",
                repository_id="r-1",
                path="shop",
                config_filename="app.pipecd.yaml",
                kind=ApplicationKind.KUBERNETES,
                labels={"tier": "front"},
                description="It",
            ),
        ),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(None, "commit c0ffee0 has no file web/app.pipecd.yaml or web/.pipe.yaml", id="no file"),
        pytest.param(b"kind: [", "web/app.pipecd.yaml:1:", id="no YAML"),
        pytest.param(a_file("web", "7"), "labels", id="a wrong value"),
        pytest.param(a_file("web", kind="Event"), "web/app.pipecd.yaml", id="another kind"),
        pytest.param(a_file("web") + b"---\n" + a_file("two"), "the file has 2 documents", id="two at once"),
    ],
)
def test_a_file_that_cannot_be_used_is_known_with_its_problem_and_hides_no_other(
    text: bytes | None, problem: str
) -> None:
    files = readings(shop=a_file("shop"), **({} if text is None else {"web": text}))

    seen = view(COMMIT, files, [registered("web"), registered("shop")], WHOSE)

    web, shop = seen.known
    assert (web.config, web.file) == (None, "web/app.pipecd.yaml")
    assert problem in web.problem
    assert (shop.config is not None, shop.problem) == (True, "")
    assert seen.unregistered == ()


def test_files_that_cannot_be_deployed_are_listed_registered_or_not() -> None:
    bad = b"a: ["
    files = readings(web=bad, new=bad, nameless=a_file(""), shop=a_file("shop"))

    seen = view(COMMIT, files, [registered("web"), registered("shop")], WHOSE)

    assert [(each.file, each.application_id, each.nameless) for each in seen.unusable] == [
        ("web/app.pipecd.yaml", "a-web", False),
        ("new/app.pipecd.yaml", "", False),
        ("nameless/app.pipecd.yaml", "", True),
    ]
    assert [each.reason.partition(" error: ")[0] for each in seen.unusable] == [
        "web/app.pipecd.yaml:1:1:",
        "new/app.pipecd.yaml:1:1:",
        "nameless/app.pipecd.yaml:",
    ]


def test_the_reason_of_an_unusable_file_is_cut() -> None:
    spec = ", ".join(f"unknown{number}: 1" for number in range(200))
    text = f"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {{{spec}}}\n"

    (each,) = view(COMMIT, readings(web=text.encode()), [], WHOSE).unusable

    assert (len(each.reason), each.reason[-12:]) == (MOST_REASON, " characters)")


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        pytest.param({}, ["one", "two"], id="none: all"),
        pytest.param({"tier": "front"}, ["one"], id="one label"),
        pytest.param({"tier": "front", "team": "b"}, [], id="every label must fit"),
    ],
)
def test_only_files_with_the_labels_of_the_selector_are_suggested(selector: dict[str, str], names: list[str]) -> None:
    files = readings(one=a_file("one", "{tier: front, team: a}"), two=a_file("two", "{tier: back}"))
    whose = msgspec.structs.replace(WHOSE, selector=selector)

    assert [each.name for each in view(COMMIT, files, [], whose).unregistered] == names


@pytest.mark.parametrize(
    ("place", "files"),
    [
        pytest.param(("web", ""), ("web/app.pipecd.yaml", "web/.pipe.yaml"), id="the usual names"),
        pytest.param(("web", "blue.pipecd.yaml"), ("web/blue.pipecd.yaml",), id="its own name"),
        pytest.param((".", "app.pipecd.yaml"), ("app.pipecd.yaml",), id="at the root"),
        pytest.param(("./web/", "app.pipecd.yaml"), ("web/app.pipecd.yaml",), id="written in another way"),
    ],
)
def test_where_the_file_of_an_application_may_be(place: tuple[str, str], files: tuple[str, ...]) -> None:
    path, name = place

    assert files_of(GitPath(repository=Repository(id="r-1"), path=path, config_filename=name)) == files


def test_only_what_git_says_otherwise_than_the_server_is_told() -> None:
    same = registered("same", description="It")
    other = registered("other", description="What it was")
    seen = view(COMMIT, readings(same=a_file("same"), other=a_file("other")), [same, other], WHOSE)

    assert [(each.id, each.name, each.description) for each in renamed(seen.known, WHOSE)] == [
        ("a-other", "other", "It")
    ]


@given(st.integers(-10, 10))
def test_what_the_server_says_is_believed_unless_this_agent_knows_of_something_newer(seconds: int) -> None:
    known = a_deployment(id="known", application_id="a-web", created_at=NOW)
    said = a_deployment(id="said", application_id="a-web", created_at=NOW + timedelta(seconds=seconds))
    applications = Registered()
    applications.replace([registered("web")])
    applications.note_triggered(known)

    applications.replace([registered("web", last_triggered=reference_to(said))])

    found = applications.get("a-web")
    assert found is not None
    # The wire cuts times to seconds: of two in the same second it is the one that was made here.
    assert found.last_triggered == reference_to(said if seconds > 0 else known)


def test_an_application_that_the_server_does_not_list_any_more_is_forgotten() -> None:
    applications = Registered()
    applications.replace([registered("web"), registered("shop")])

    applications.replace([registered("shop")])
    applications.note_succeeded(a_deployment(application_id="a-web"))

    assert (applications.get("a-web"), applications.of_repository("r-1")) == (None, (registered("shop"),))


def test_a_deployment_is_made_after_the_last_one_whatever_the_clock_says() -> None:
    ahead = a_deployment(id="d-1", application_id="a-web", created_at=NOW + timedelta(hours=1))
    applications = Registered()
    applications.replace([registered("web", last_triggered=reference_to(ahead)), registered("shop")])

    made = [applications.next_moment(each, NOW) for each in ("a-web", "a-shop", "a-unknown")]

    assert made == [NOW + timedelta(hours=1, seconds=1), NOW, NOW]


def test_what_succeeded_last_stays_so_though_another_ended_later_by_its_clock() -> None:
    before = a_deployment(id="before", application_id="a-web", completed_at=NOW + timedelta(hours=1))
    last = a_deployment(id="last", application_id="a-web", completed_at=NOW)
    said = registered("web", last_succeeded=reference_to(before))
    applications = Registered()
    applications.replace([said])

    applications.note_succeeded(last)
    applications.replace([said])

    found = applications.get("a-web")
    ended_at = NOW + timedelta(hours=1, seconds=1)
    assert found is not None
    assert found.last_succeeded == reference_to(msgspec.structs.replace(last, completed_at=ended_at))


def test_of_two_that_succeeded_the_one_that_had_its_turn_later_runs_though_it_was_made_earlier() -> None:
    earlier = a_deployment(id="made later", created_at=NOW, completed_at=NOW + timedelta(seconds=2))
    later = a_deployment(
        id="made earlier", created_at=NOW - timedelta(hours=1), completed_at=NOW + timedelta(seconds=9)
    )
    said = [registered("web", last_succeeded=reference_to(earlier))]
    applications = Registered()
    applications.replace(said)

    applications.note_succeeded(msgspec.structs.replace(later, application_id="a-web"))
    applications.replace(said)

    found = applications.get("a-web")
    assert found is not None
    assert found.last_succeeded == reference_to(later)
