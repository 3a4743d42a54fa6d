"""What a change would do, for reviewers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.plugins.kubernetes.planning.preview import preview, safe
from fairway.sdk import Preview
from tests.unit.plugins.kubernetes.objects import a_config, a_deployment


def test_what_is_added_changed_and_deleted() -> None:
    before = [a_config("gone", a="1"), a_deployment(image="web:v1"), a_config("same")]
    after = [a_deployment(image="web:v2"), a_config("same"), a_config("new", b="2")]

    seen = preview("tokyo", before, after)

    assert (seen.deploy_target, seen.changes, seen.language) == ("tokyo", True, "diff")
    assert seen.summary == "1 added manifests, 1 changed manifests, 1 deleted manifests"
    assert seen.details.splitlines() == [
        '- 1. name="gone", kind="ConfigMap", apiVersion="v1"',
        "",
        "@@ -1,6 +0,0 @@",
        *("-apiVersion: v1", "-kind: ConfigMap", "-metadata:", "-  name: gone", "-data:", "-  a: '1'"),
        "",
        "",
        '+ 2. name="new", kind="ConfigMap", apiVersion="v1"',
        "",
        "@@ -0,0 +1,6 @@",
        *("+apiVersion: v1", "+kind: ConfigMap", "+metadata:", "+  name: new", "+data:", "+  b: '2'"),
        "",
        "",
        '# 3. name="web", kind="Deployment", apiVersion="apps/v1"',
        "",
        "@@ -7,5 +7,5 @@",
        "   template:",
        "     spec:",
        "       containers:",
        "-      - image: web:v1",
        "+      - image: web:v2",
        "         name: web",
        "",
    ]


def test_what_is_not_in_git_any_more_stays_where_nothing_is_pruned() -> None:
    before, after = [a_config("gone"), a_config("same")], [a_config("same")]

    seen = preview("tokyo", before, after, prunes=False)

    stays = "1 stays in the cluster, because prune is off"
    assert seen == Preview(
        deploy_target="tokyo",
        summary=f"0 added manifests, 0 changed manifests, 0 deleted manifests; {stays}",
        details="# ConfigMap gone is not in Git any more and stays in the cluster, because prune is off\n",
    )


def test_nothing_changes() -> None:
    same = [a_deployment(replicas=2)]

    assert preview("tokyo", same, list(same)) == Preview(
        deploy_target="tokyo", summary="No manifest would change", changes=False
    )


@pytest.mark.parametrize("field", ["data", "stringData"])
def test_secrets_are_masked(field: str) -> None:
    """Defect 6."""
    before, after = (a_config("it", "Secret") for _ in range(2))
    before = type(before)({**before.body, field: {"a": "hunter2"}})
    after = type(after)({**after.body, field: {"a": "hunter3", "b": "hunter4"}})

    seen = preview("", [before], [after])

    assert "hunter" not in seen.details
    assert "-  a: '***** (before)'" in seen.details
    assert "+  a: '***** (after)'" in seen.details


def test_the_same_name_in_another_namespace_is_another_object() -> None:
    seen = preview("", [a_deployment(namespace="one")], [a_deployment(namespace="two")])

    assert seen.summary == "1 added manifests, 0 changed manifests, 1 deleted manifests"
    assert 'namespace="two"' in seen.details


def test_what_people_should_know_stands_first() -> None:
    seen = preview("", [], [a_config()], ["a hook is not run"])

    assert seen.details.startswith("# a hook is not run\n")


def test_nobody_has_to_read_without_end() -> None:
    many = {f"k{number}": "x" * 100 for number in range(2000)}
    seen = preview("", [], [a_config(f"c{number:02}", **many) for number in range(20)])

    assert "more lines of it are not shown" in seen.details
    assert len(seen.details) < 600_000
    assert "more are not shown" in seen.details


@given(st.text(alphabet="`~ +-#|x\n\t\u202e\u200b", max_size=40))
def test_no_text_ends_the_code_block_it_stands_in(text: str) -> None:
    for line in safe(text).splitlines():
        assert not line.lstrip(" +-#|\t").startswith(("```", "~~~"))
        assert "\u202e" not in line
