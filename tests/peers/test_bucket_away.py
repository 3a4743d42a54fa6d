"""A bucket that cannot be reached for a while, and agents that go on reporting logs."""

from pathlib import Path

import pytest
from grpc import StatusCode, aio

from tests.acceptance.agent.lines import Line
from tests.acceptance.server.processes import a_server
from tests.acceptance.server.reporting import a_planned_deployment, an_account, reporting
from tests.acceptance.server.test_abuse import a_large_block
from tests.peers.s3 import S3Server


async def test_a_bucket_that_is_away_for_a_while_costs_no_line_that_was_acknowledged(
    tmp_path: Path, s3: S3Server
) -> None:
    with Line.to(f"127.0.0.1:{s3.port}") as line:
        environment = {**s3.environment, "AWS_ENDPOINT_URL": f"http://{line.address}"}
        with a_server(tmp_path / "data", "--logs", s3.new_bucket(), environment=environment) as server:
            accounts = [await an_account(server, server.api_key, name) for name in ("one", "two", "witness")]
            async with (
                a_planned_deployment(server, accounts[2], "witness") as witness,
                reporting(accounts[:2], [server.address]) as kept,
            ):
                await kept.after(20)
                line.refuse()
                with pytest.raises(aio.AioRpcError) as refused:
                    await witness.ReportStageLogs(a_large_block("witness", 1), metadata=accounts[2].metadata)
                line.mend()
                await witness.ReportStageLogs(a_large_block("witness", 1), metadata=accounts[2].metadata)
                await kept.after(30)
            lost = await kept.missing(server.address, server.api_key)

    assert refused.value.code() is StatusCode.UNAVAILABLE
    assert lost == []
    assert "Traceback" not in server.said
