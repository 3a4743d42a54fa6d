"""How a plugin tells an agent whether asking again may help."""

import grpc

from fairway.errors import FairwayError


def code_of(error: FairwayError) -> grpc.StatusCode:
    """UNAVAILABLE for what may be otherwise later: an agent asks again. Anything else is final."""
    return grpc.StatusCode.UNAVAILABLE if error.retry else grpc.StatusCode.FAILED_PRECONDITION
