import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.passed_connection import PREFACE, speaks_grpc
from fairway.server.peers import peer_address


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        pytest.param("ipv4:203.0.113.9:5555", "203.0.113.9", id="IPv4"),
        pytest.param("ipv6:%5B2001:db8::1%5D:5555", "2001:db8::1", id="IPv6"),
        pytest.param("ipv6:[::1]:5555", "::1", id="IPv6 that is not escaped"),
        pytest.param("unix:/tmp/fairway-x/1f@203.0.113.9", "203.0.113.9", id="through the single port"),
        pytest.param("unix:/tmp/fairway-x/1f@2001:db8::1", "2001:db8::1", id="through the single port over IPv6"),
        pytest.param("unix:/run/other", "", id="another socket"),
        pytest.param("unix:", "", id="a socket without a name"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_the_address_of_a_peer(peer: str, address: str) -> None:
    assert peer_address(peer) == address


@pytest.mark.parametrize("length", range(len(PREFACE)))
def test_the_beginning_of_the_preface_says_nothing_yet(length: int) -> None:
    assert speaks_grpc(PREFACE[:length]) is None


@given(st.binary())
def test_the_whole_preface_is_grpc_whatever_follows(rest: bytes) -> None:
    assert speaks_grpc(PREFACE + rest) is True


@given(st.binary(min_size=1).filter(lambda seen: not PREFACE.startswith(seen) and not seen.startswith(PREFACE)))
def test_everything_else_is_not(seen: bytes) -> None:
    assert speaks_grpc(seen) is False
