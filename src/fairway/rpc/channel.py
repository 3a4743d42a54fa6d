"""The options of every gRPC server and channel of ours, so that both ends agree.

Go clients and proxies may ping an idle connection each 10 seconds; a server with gRPC's defaults calls that
abuse and hangs up. Go servers in turn hang up on clients that ping more than once in five minutes, so ours
ping less often than that and leave it to the server to find out about dead connections.
"""

from collections.abc import Sequence

#: What PipeCD's agents accept in one message.
MAX_MESSAGE_BYTES = 10 * 1024 * 1024

Options = Sequence[tuple[str, int]]

_MESSAGES: Options = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
)

#: For `grpc.aio.server(options=…)`.
SERVER_OPTIONS: Options = (
    *_MESSAGES,
    # Two servers on one port would each get half of the calls; the second should rather fail to start.
    ("grpc.so_reuseport", 0),
    # Calls that wait while the process is busy. With gRPC's 1,000, some of the next are refused by lot, as CANCELLED;
    # a thousand of PipeCD's agents have four under way when they all come back at once.
    ("grpc.server.max_pending_requests", 5_000),
    ("grpc.server.max_pending_requests_hard_limit", 10_000),
    # A call that is not read yet may send 64 KiB. gRPC would let that grow to megabytes where a connection is quick.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
)

#: For `grpc.aio.insecure_channel(options=…)` and `secure_channel`.
CHANNEL_OPTIONS: Options = (
    *_MESSAGES,
    ("grpc.keepalive_time_ms", 360_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    # Until it connects again a channel fails every call at once. With gRPC's two minutes between attempts, an agent
    # would do so long after its server is back.
    ("grpc.max_reconnect_backoff_ms", 10_000),
)
