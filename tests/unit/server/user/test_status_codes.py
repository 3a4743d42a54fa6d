"""Errors as gRPC statuses: the table, and what reaches the caller."""

from typing import Any, cast

import grpc
import pytest
from structlog.testing import capture_logs

from fairway.errors import TemporaryError, UserError
from fairway.model.deployment import DEPLOYMENT_TRANSITIONS, DeploymentStatus
from fairway.model.transitions import InvalidTransition
from fairway.rpc.user_api import messages
from fairway.server.status_codes import (
    BadCredentials,
    Forbidden,
    InvalidRequest,
    NotNow,
    abort_for,
    refuse_broken_rules,
    status_code,
)
from fairway.server.store.errors import AlreadyExists, NotFound, UnusableDatabase


def a_refused_transition() -> InvalidTransition:
    succeeded, running = DeploymentStatus.SUCCEEDED, DeploymentStatus.RUNNING
    return InvalidTransition("deployment d-1", succeeded, running, frozenset(DEPLOYMENT_TRANSITIONS.rows[succeeded]))


class Aborted(Exception):
    """What a context raises when it is told to abort."""


class Context:
    """The one method of a call's context that is used here; the real one exists only inside a server."""

    async def abort(self, code: grpc.StatusCode, details: str, trailing_metadata: tuple[tuple[str, str], ...]) -> None:
        assert trailing_metadata == ()
        raise Aborted(code, details)


async def told(error: Exception) -> tuple[Any, ...]:
    with pytest.raises(Aborted) as aborted:
        await abort_for(error, cast("Any", Context()))
    return aborted.value.args


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(BadCredentials("who?"), grpc.StatusCode.UNAUTHENTICATED, id="bad credentials"),
        pytest.param(Forbidden("no"), grpc.StatusCode.PERMISSION_DENIED, id="forbidden"),
        pytest.param(NotFound("agent", "a"), grpc.StatusCode.NOT_FOUND, id="missing"),
        pytest.param(AlreadyExists("agent", "a"), grpc.StatusCode.ALREADY_EXISTS, id="there already"),
        pytest.param(a_refused_transition(), grpc.StatusCode.FAILED_PRECONDITION, id="refused transition"),
        pytest.param(NotNow("later"), grpc.StatusCode.FAILED_PRECONDITION, id="not now"),
        pytest.param(UnusableDatabase("torn"), grpc.StatusCode.DATA_LOSS, id="damaged database"),
        pytest.param(InvalidRequest("odd"), grpc.StatusCode.INVALID_ARGUMENT, id="broken rule"),
        pytest.param(UserError("odd"), grpc.StatusCode.INVALID_ARGUMENT, id="any other user error"),
        pytest.param(TemporaryError("busy"), grpc.StatusCode.UNAVAILABLE, id="temporary"),
        pytest.param(KeyError("x"), grpc.StatusCode.INTERNAL, id="defect"),
    ],
)
def test_an_error_stands_for_one_status(error: Exception, code: grpc.StatusCode) -> None:
    assert status_code(error) is code


async def test_an_error_of_ours_is_told_in_its_own_words() -> None:
    assert await told(Forbidden("a key of another project")) == (
        grpc.StatusCode.PERMISSION_DENIED,
        "a key of another project",
    )


async def test_a_long_message_is_cut_to_what_clients_take() -> None:
    code, message = await told(InvalidRequest("é" * 5_000))

    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert message == f"{'é' * 1_000}… (10000 bytes in all)"


async def test_a_defect_tells_neither_caller_nor_log_what_it_held() -> None:
    with capture_logs() as logged:
        answer = await told(ValueError("the key is hunter2"))

    assert answer[0] is grpc.StatusCode.INTERNAL
    assert "hunter2" not in answer[1]
    assert [entry["error"] for entry in logged] == ["ValueError"]
    assert "hunter2" not in str(logged)


def test_a_request_is_refused_with_everything_that_is_wrong_with_it() -> None:
    with pytest.raises(InvalidRequest) as refused:
        refuse_broken_rules(messages.UpdatePipedRequest())

    assert str(refused.value) == "piped_id is empty; expected some text; name is empty; expected some text"
