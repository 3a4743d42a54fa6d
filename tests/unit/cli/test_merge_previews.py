"""What a merge would deploy, in text and in Markdown."""

import re

from hypothesis import given
from hypothesis import strategies as st

from fairway.cli.merge_previews import MOST_DETAILS, Merge, as_markdown, as_text, failures, marker
from fairway.model.merge_preview import ApplicationChange, MergePreview, TargetChange
from fairway.model.trigger import SyncStrategy

MERGE = Merge(repository="r", head_branch="topic", head_commit="c0ffee0123", base_branch="main")
DIFF = "-replicas: 1\n+replicas: 2"


def an_application(name: str = "web", **fields: object) -> ApplicationChange:
    known: dict[str, object] = {
        "application_id": f"a-{name}",
        "application_name": name,
        "directory": f"apps/{name}",
        "sync_strategy": SyncStrategy.PIPELINE,
        "summary": "Sync with the pipeline\nStages: CANARY → PRIMARY",
    }
    return ApplicationChange(**{**known, **fields})  # type: ignore[arg-type]  # each is of its field's type


def a_target(**fields: str) -> TargetChange:
    return TargetChange(
        **{"plugin": "kubernetes", "deploy_target": "prod", "summary": "1 changed", "details": DIFF} | fields
    )


def previews(*applications: ApplicationChange, error: str = "") -> list[MergePreview]:
    return [MergePreview(id="c-1", agent_id="a", agent_name="near", ready=True, applications=applications, error=error)]


def test_text_has_strategy_stages_and_what_changes_in_each_target() -> None:
    found = previews(an_application(targets=(a_target(),)), an_application("api", no_change=True))

    assert as_text(found, MERGE) == (
        "Merging topic (c0ffee0) into main touches 2 applications.\n\n"
        "api (apps/api)\n  strategy: pipeline\n  Sync with the pipeline\n  Stages: CANARY → PRIMARY\n  no change\n\n"
        "web (apps/web)\n  strategy: pipeline\n  Sync with the pipeline\n  Stages: CANARY → PRIMARY\n"
        "  kubernetes prod: 1 changed\n    -replicas: 1\n    +replicas: 2"
    )


def test_markdown_folds_details_and_lists_what_does_not_change() -> None:
    found = previews(an_application(targets=(a_target(),), url="https://x/a"), an_application("api", no_change=True))

    assert as_markdown(found, MERGE) == (
        f"{marker('Plan preview')}\n\n## Plan preview\n\n"
        "Merging topic (c0ffee0) into main touches 2 applications.\n\n"
        "### [web](https://x/a)\n\n**pipeline**, `apps/web`\nSync with the pipeline\nStages: CANARY → PRIMARY\n\n"
        "<details><summary>kubernetes prod: 1 changed</summary>\n\n"
        "```diff\n-replicas: 1\n+replicas: 2\n```\n\n</details>\n\nNo change: api\n"
    )


def test_failures_of_applications_and_agents_hide_nothing_else() -> None:
    found = previews(an_application(error="no secret"), an_application("api"), error="too slow")

    assert failures(found) == ["agent near: too slow", "web: no secret"]
    for said in (as_text(found, MERGE), as_markdown(found, MERGE)):
        assert "no secret" in said
        assert "too slow" in said
        assert "api" in said


def test_details_are_cut_where_a_comment_would_be_too_long() -> None:
    long = a_target(details="x" * MOST_DETAILS)
    found = previews(an_application(targets=(long,)), an_application("zoo", targets=(long,)))

    assert len(as_markdown(found, MERGE)) < 65_536
    assert as_markdown(found, MERGE).count("the rest is cut") == 1
    assert "the rest is cut" not in as_text(found, MERGE)


@given(st.text(alphabet="`\n ab@<>\x1b", max_size=60))
def test_details_cannot_leave_their_fence(details: str) -> None:
    said = as_markdown(previews(an_application(targets=(a_target(details=details),))), MERGE)

    opened = re.search(r"^(`{3,})diff$", said, re.MULTILINE)
    assert "\x1b" not in said
    if opened is not None:
        fences = [line for line in said.splitlines() if re.fullmatch(r" {0,3}`{3,}\s*", line)]
        assert [line for line in fences if len(line.strip()) >= len(opened[1])] == [opened[1]]


def test_names_are_no_markdown_and_mention_nobody() -> None:
    said = as_markdown(previews(an_application("**@all** <b>")), MERGE)

    assert "### \\*\\*@\u200ball\\*\\* \\<b\\>" in said


def test_what_would_not_be_deployed_has_words_and_no_strategy_and_is_no_failure() -> None:
    found = previews(an_application(sync_strategy=SyncStrategy.AUTO, summary="After the merge it has no file"))

    assert as_text(found, MERGE).endswith("\n\nweb (apps/web)\n  After the merge it has no file")
    assert as_markdown(found, MERGE).endswith("### web\n\n`apps/web`\nAfter the merge it has no file\n")
    assert failures(found) == []
