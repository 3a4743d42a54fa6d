"""What a merge would deploy, as text for a terminal and as Markdown for a comment. Pure.

A comment has a longest size, so details are cut where they would pass it, and the comment says so. What an agent says
may have been written by strangers: it stands in a fence that it cannot close.
"""

import hashlib
import re
from collections.abc import Sequence

import msgspec

from fairway.cli.output import log_text, plain
from fairway.model.merge_preview import ApplicationChange, MergePreview, TargetChange
from fairway.model.trigger import SyncStrategy

#: GitHub takes 65,536 characters; the rest is for everything that is not a detail.
MOST_DETAILS = 50_000
_CUT = "\n… the rest is cut, as a comment has a longest size; `fairway plan-preview` shows all of it"
_MARK = "\\`*_{}[]<>#|"


class Merge(msgspec.Struct, frozen=True, kw_only=True):
    """The merge that was asked about."""

    repository: str
    head_branch: str
    head_commit: str
    base_branch: str


def failures(previews: Sequence[MergePreview]) -> list[str]:
    """What could not be previewed, one sentence each."""
    of_agents = [
        f"agent {plain(each.agent_name or each.agent_id)}: {plain(each.error)}" for each in previews if each.error
    ]
    failed = [f"{plain(each.application_name)}: {plain(each.error)}" for each in _applications(previews) if each.error]
    return [*of_agents, *failed]


def as_text(previews: Sequence[MergePreview], merge: Merge) -> str:
    """For a terminal, or the log of a CI."""
    lines = [_sentence(previews, merge)]
    for each in _applications(previews):
        lines += ["", f"{plain(each.application_name)} ({plain(each.directory)})"]
        if not each.error or each.summary:
            lines += [*(f"  strategy: {strategy}" for strategy in _strategy(each)), *_indented(each.summary)]
        if each.no_change:
            lines.append("  no change")
        for target in each.targets:
            lines += [f"  {_target(target)}: {plain(target.summary)}", *_indented(target.details, "    ")]
        if each.error:
            lines.append(f"  failed: {plain(each.error)}")
    lines += ["", *(f"failed: {each}" for each in failures(previews))] if failures(previews) else []
    return "\n".join(lines)


def marker(title: str) -> str:
    """The first line of a comment, by which the next run finds it."""
    return f"<!-- fairway-plan-preview {hashlib.sha256(title.encode()).hexdigest()[:16]} -->"


def as_markdown(previews: Sequence[MergePreview], merge: Merge, title: str = "Plan preview") -> str:
    """For a comment."""
    left, parts = MOST_DETAILS, [marker(title), f"## {_escaped(title)}", _escaped(_sentence(previews, merge))]
    changed = [each for each in _applications(previews) if not each.no_change and not each.error]
    for each in changed:
        parts += [f"### {_name(each)}", _plan(each)]
        for target in each.targets:
            details = _cut(log_text(target.details), left)
            left -= len(details)
            parts.append(_folded(target, details))
    if unchanged := [_name(each) for each in _applications(previews) if each.no_change and not each.error]:
        parts.append(f"No change: {', '.join(unchanged)}")
    if failed := failures(previews):
        parts += ["### Failed", "\n".join(f"- {_escaped(each)}" for each in failed)]
    return "\n\n".join(parts) + "\n"


def _applications(previews: Sequence[MergePreview]) -> list[ApplicationChange]:
    found = [application for each in previews for application in each.applications]
    return sorted(found, key=lambda each: (each.application_name, each.application_id))


def _sentence(previews: Sequence[MergePreview], merge: Merge) -> str:
    count = len(_applications(previews))
    what = "1 application" if count == 1 else f"{count or 'no'} applications"
    return f"Merging {merge.head_branch} ({merge.head_commit[:7]}) into {merge.base_branch} touches {what}."


def _plan(each: ApplicationChange) -> str:
    strategy = "".join(f"**{strategy}**, " for strategy in _strategy(each))
    lines = [f"{strategy}`{plain(each.directory)}`", *(_escaped(line) for line in each.summary.splitlines())]
    return "\n".join(lines)


def _strategy(each: ApplicationChange) -> list[str]:
    """How it would be deployed; nothing where it would not be."""
    planned = each.sync_strategy is not SyncStrategy.AUTO
    return [each.sync_strategy.value.replace("_", " ")] if planned else []


def _name(each: ApplicationChange) -> str:
    name = _escaped(plain(each.application_name))
    return f"[{name}]({each.url})" if re.fullmatch(r"https?://[^\s()]+", each.url) else name


def _target(target: TargetChange) -> str:
    return plain(" ".join(filter(None, (target.plugin, target.deploy_target))))


def _folded(target: TargetChange, details: str) -> str:
    head = f"{_target(target)}: {plain(target.summary)}"
    if not details:
        return _escaped(head)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", details)), default=0))
    language = target.language if target.language.isalnum() else ""
    return f"<details><summary>{_html(head)}</summary>\n\n{fence}{language}\n{details}\n{fence}\n\n</details>"


def _cut(details: str, room: int) -> str:
    return details if len(details) <= room else details[: max(room, 0)] + _CUT


def _indented(text: str, by: str = "  ") -> list[str]:
    return [by + line for line in log_text(text).splitlines()]


def _escaped(text: str) -> str:
    """A text that is none of Markdown's marks, and mentions nobody."""
    return "".join(f"\\{each}" if each in _MARK else each for each in log_text(text)).replace("@", "@\u200b")


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
