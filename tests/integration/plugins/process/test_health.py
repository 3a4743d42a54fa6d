"""What is wrong with a process, in words."""

from fairway.plugins.process.health import what_is_wrong
from tests.ports import a_free_port


async def test_a_port_that_nobody_listens_on() -> None:
    port = a_free_port()

    assert await what_is_wrong(port, "/healthz") == f"nothing answers on port {port} (connection refused)"
