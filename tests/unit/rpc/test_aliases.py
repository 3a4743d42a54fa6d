"""Older clients' paths are read as the current ones."""

import pytest

from fairway.rpc.aliases import current_path


@pytest.mark.parametrize(
    ("called", "current"),
    [
        pytest.param(
            "/pipe.api.service.pipedservice.PipedService/ReportStat",
            "/grpc.service.pipedservice.PipedService/ReportStat",
            id="an old agent",
        ),
        pytest.param(
            "/pipe.api.service.apiservice.APIService/GetCommand",
            "/grpc.service.apiservice.APIService/GetCommand",
            id="an old pipectl",
        ),
        pytest.param(
            "/grpc.service.apiservice.APIService/GetCommand",
            "/grpc.service.apiservice.APIService/GetCommand",
            id="already current",
        ),
        pytest.param("/pipe.api.service.other.Other/X", "/pipe.api.service.other.Other/X", id="no such service"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_a_legacy_path_is_read_as_the_current_one(called: str, current: str) -> None:
    assert current_path(called) == current
