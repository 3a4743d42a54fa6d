"""The record of who changed what, over HTTP."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from fairway.model.api_key import APIKeyRole
from fairway.model.audit import AuditRecord
from fairway.server.store.audit import insert_audit_record
from tests.integration.server.http_api.serving import Serving, serving
from tests.integration.server.store.nouns import keep, minutes


def a_record(number: int, **fields: Any) -> AuditRecord:
    known: dict[str, Any] = {"id": f"r-{number:04}", "created_at": minutes(number), "project_id": "shop"}
    said = {"actor": "ann", "actor_kind": "user", "action": "application.sync", "subject_id": "a-1"}
    return AuditRecord(**{**known, **said, **fields})


async def keep_records(served: Serving, *records: AuditRecord) -> None:
    await keep(served.store, insert_audit_record, *records)


async def test_a_change_is_recorded_with_who_made_it_and_from_where(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        await served.ask("POST", "/api/v1/events", json={"name": "image", "data": "v2"})

        (shown,) = (await served.get("/api/v1/audit")).json()["items"]

    assert {name: shown[name] for name in ("actor", "actor_kind", "action", "subject_id", "address")} == {
        "actor": "key-1",
        "actor_kind": "api_key",
        "action": "event.create",
        "subject_id": "new-1",
        "address": "127.0.0.1",
    }


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        pytest.param("", ["r-0004", "r-0003", "r-0002", "r-0001"], id="no filter"),
        pytest.param("actor=bo", ["r-0002"], id="actor"),
        pytest.param("action=agent.update", ["r-0003"], id="action"),
        pytest.param("subject_id=a-2", ["r-0004"], id="subject"),
        pytest.param("since=2026-01-01T12:03:00Z", ["r-0004", "r-0003"], id="since"),
        pytest.param("until=2026-01-01T12:02:00Z", ["r-0001"], id="until"),
    ],
)
async def test_records_are_filtered(tmp_path: Path, query: str, ids: list[str]) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        await keep_records(
            served,
            a_record(1),
            a_record(2, actor="bo"),
            a_record(3, action="agent.update", project_id=""),
            a_record(4, subject_id="a-2"),
            a_record(5, project_id="other"),
        )

        answer = await served.get(f"/api/v1/audit?{query}")
        exported = await served.get(f"/api/v1/audit/export?{query}")

    assert [item["id"] for item in answer.json()["items"]] == ids
    assert [json.loads(line) for line in exported.text.splitlines()] == answer.json()["items"]


async def test_all_records_that_fit_are_exported_however_many(tmp_path: Path) -> None:
    records = [a_record(number) for number in range(1201)]
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        await keep_records(served, *records)

        lines = await served.get("/api/v1/audit/export?format=jsonl")
        table = await served.get("/api/v1/audit/export?format=csv")

    newest_first = [record.id for record in reversed(records)]
    assert [json.loads(line)["id"] for line in lines.text.splitlines()] == newest_first
    assert [row["id"] for row in csv.DictReader(io.StringIO(table.text))] == newest_first
    kinds = [answer.headers["content-type"] for answer in (lines, table)]
    assert kinds == ["application/jsonl", "text/csv; charset=utf-8"]
    assert table.headers["content-disposition"] == 'attachment; filename="audit.csv"'


async def test_no_cell_of_a_table_is_a_formula(tmp_path: Path) -> None:
    record = a_record(1, actor="=1+1", subject_name='@SUM(1), "x"\nz', after={"name": "=2"})
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        await keep_records(served, record)

        table = await served.get("/api/v1/audit/export?format=csv")

    (row,) = csv.DictReader(io.StringIO(table.text, newline=""))
    assert (row["actor"], row["subject_name"]) == ("'=1+1", '\'@SUM(1), "x"\nz')
    assert (row["after"], row["created_at"]) == ('{"name":"=2"}', "2026-01-01T12:01:00Z")


@pytest.mark.parametrize("path", ["audit", "audit/export"])
async def test_only_who_may_read_the_record_reads_it(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        assert (await served.refusal(f"/api/v1/{path}"))[:2] == (403, "permission_denied")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        pytest.param(
            "export?format=cvs", "format is 'cvs'; expected one of jsonl, csv; did you mean 'csv'?", id="format"
        ),
        pytest.param(
            "export?since=yesterday", "since is 'yesterday'; expected a time such as 2026-01-31T12:00:00Z", id="a word"
        ),
        pytest.param("export?since=", "since is ''; expected a time such as 2026-01-31T12:00:00Z", id="nothing"),
        pytest.param(
            "export?until=2026-01-01T00:00:00",
            "until is '2026-01-01T00:00:00'; expected a time with its zone, such as 2026-01-31T12:00:00Z",
            id="no zone",
        ),
    ],
)
async def test_a_parameter_that_is_not_understood_is_named(tmp_path: Path, query: str, message: str) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        assert await served.refusal(f"/api/v1/audit/{query}") == (400, "invalid_argument", message)
