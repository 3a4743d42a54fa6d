"""Which applications follow in a chain: wire ⇄ model. Chains themselves never leave the server by gRPC."""

from fairway.model.chain import ApplicationMatcher
from fairway.rpc.gen.pipecd.service.pipedservice_pb2 import CreateDeploymentChainRequest


def to_wire_matcher(matcher: ApplicationMatcher) -> CreateDeploymentChainRequest.ApplicationMatcher:
    return CreateDeploymentChainRequest.ApplicationMatcher(name=matcher.name, kind=matcher.kind, labels=matcher.labels)


def from_wire_matcher(wire: CreateDeploymentChainRequest.ApplicationMatcher) -> ApplicationMatcher:
    return ApplicationMatcher(name=wire.name, kind=wire.kind, labels=dict(wire.labels))
