"""The places where wire and model do not say quite the same, one test for each decision."""

import msgspec
import pytest

from fairway.model.agent import SecretEncryption
from fairway.model.application import ApplicationKind, DiscoveredApplication
from fairway.model.live_state import Health, Resource
from fairway.model.plan import Plan
from fairway.model.trigger import SyncStrategy
from fairway.rpc.convert import application as applications
from fairway.rpc.convert import deployment as deployments
from fairway.rpc.convert.agent import from_wire_profile
from fairway.rpc.convert.application import KINDS
from fairway.rpc.convert.command import from_wire_command
from fairway.rpc.convert.live_state import to_wire_plugin_live_state
from fairway.rpc.convert.wire_enum import WireError
from fairway.rpc.convert.wire_time import from_wire_time
from fairway.rpc.gen.pipecd.model import application_pb2, command_pb2, deployment_pb2
from fairway.rpc.gen.pipecd.service.pipedservice_pb2 import ReportDeploymentPlannedRequest, ReportPipedMetaRequest


def test_an_application_with_neither_targets_nor_kind_reads_as_kubernetes() -> None:
    application = applications.from_wire_application(application_pb2.Application())

    without_kind = msgspec.structs.replace(application, kind=None)

    assert applications.from_wire_application(applications.to_wire_application(without_kind)) == application
    assert application.kind is ApplicationKind.KUBERNETES


def test_a_discovered_application_without_a_kind_reads_as_kubernetes() -> None:
    found = DiscoveredApplication(name="n", agent_id="a", repository_id="r", path="app", config_filename="f")

    back = applications.from_wire_discovered_application(applications.to_wire_discovered_application(found))

    assert back == msgspec.structs.replace(found, kind=ApplicationKind.KUBERNETES)


def test_an_application_deleted_without_a_time_was_deleted_at_its_last_change() -> None:
    wire = application_pb2.Application(deleted=True, updated_at=7)

    assert applications.from_wire_application(wire).deleted_at == from_wire_time(7)


def test_a_deployment_of_the_newer_generation_always_has_its_form_of_metadata() -> None:
    wire = deployment_pb2.Deployment(deploy_targets_by_plugin={"k8s": deployment_pb2.DeployTargets()})

    back = deployments.to_wire_deployment(deployments.from_wire_deployment(wire))

    assert back.HasField("metadata_v2")
    assert back.metadata_v2.HasField("shared")


@pytest.mark.parametrize("kind", ApplicationKind)
def test_a_deployment_of_the_older_generation_keeps_its_kind_and_what_plugins_have_noted(kind: ApplicationKind) -> None:
    older = deployments.from_wire_deployment(deployment_pb2.Deployment(kind=KINDS.to_wire(kind)))
    noted = msgspec.structs.replace(
        older, shared_metadata={"began": "now"}, plugin_metadata={"scriptrun": {"started": "yes"}}
    )

    assert older.kind is kind
    assert deployments.from_wire_deployment(deployments.to_wire_deployment(noted)) == noted


def test_a_planned_report_names_its_deployment_and_chain() -> None:
    wire = deployment_pb2.Deployment(id="d", deployment_chain_id="c", deployment_chain_block_index=2)
    deployment = deployments.from_wire_deployment(wire)

    report = deployments.to_wire_planned(deployment, Plan(sync_strategy=SyncStrategy.AUTO, summary="", stages=()))

    assert report == ReportDeploymentPlannedRequest(
        deployment_id="d", deployment_chain_id="c", deployment_chain_block_index=2
    )


def test_a_command_of_an_unknown_type_is_refused() -> None:
    wire = command_pb2.Command.FromString(b"\x0a\x01c\xf0\x01\x63")

    with pytest.raises(WireError, match="command c has type 99, known are 0, 1, 2, 3, 4, 5, 6, 7; the sender may be"):
        from_wire_command(wire)


def test_a_command_without_the_payload_of_its_type_is_refused() -> None:
    wire = command_pb2.Command(id="c", type="SKIP_STAGE", approve_stage=command_pb2.Command.ApproveStage())

    with pytest.raises(WireError, match="command c has type 6 but no skip_stage"):
        from_wire_command(wire)


@pytest.mark.parametrize("name", [pytest.param("", id="empty"), pytest.param("NONE", id="said so")])
def test_an_agent_that_seals_nothing_is_read_as_such(name: str) -> None:
    report = ReportPipedMetaRequest()
    report.secret_encryption.type = name

    assert from_wire_profile(report).secret_encryption == SecretEncryption()


def test_an_unknown_encryption_is_refused() -> None:
    report = ReportPipedMetaRequest()
    report.secret_encryption.type = "ROT13"

    with pytest.raises(WireError, match="'ROT13' is not known; expected NONE, KEY_PAIR, GCP_KMS, AWS_KMS"):
        from_wire_profile(report)


def test_a_health_that_the_form_lacks_cannot_be_sent() -> None:
    resource = Resource(id="r", name="n", health=Health.OTHER)

    with pytest.raises(WireError, match="health of a resource other cannot be sent"):
        to_wire_plugin_live_state([resource], Health.HEALTHY)
