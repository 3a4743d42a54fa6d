"""ReplyParser: the same replies however git's output is cut."""

from hypothesis import given
from hypothesis import strategies as st

from fairway.git.object_reader import Absent, Found, Reply, ReplyParser, TooLarge

LIMIT = 20
HASH = "ab" * 20
KINDS = st.sampled_from(["blob", "tree", "commit", "tag"])
FOUND = st.builds(Found, st.just(HASH), KINDS, st.binary(max_size=LIMIT))
MISSING = st.just(Absent("missing")) | st.just(Absent("ambiguous"))
LINKS = st.builds(Absent, st.sampled_from(["symlink", "dangling", "loop", "notdir"]), st.text("abc/.\n", max_size=30))
LARGE = st.builds(TooLarge, st.just(HASH), st.integers(LIMIT + 1, 200))
NAMES = st.sampled_from([b"x", b"HEAD:a b", b"HEAD:x blob", b"HEAD:x blob 12", b"a blob 3 missing"])


def encoded(reply: Reply, name: bytes) -> bytes:
    if isinstance(reply, Found):
        return f"{reply.hash} {reply.kind} {len(reply.content)}\n".encode() + reply.content + b"\n"
    if isinstance(reply, TooLarge):
        return f"{reply.hash} blob {reply.size}\n".encode() + b"z" * reply.size + b"\n"
    if reply.reason in {"missing", "ambiguous"}:
        return name + b" " + reply.reason.encode() + b"\n"
    return f"{reply.reason} {len(reply.target)}\n{reply.target}\n".encode()


@given(replies=st.lists(FOUND | MISSING | LINKS | LARGE, max_size=8), names=st.data(), sizes=st.data())
def test_replies_do_not_depend_on_how_the_stream_is_cut(
    replies: list[Reply], names: st.DataObject, sizes: st.DataObject
) -> None:
    stream = b"".join(encoded(reply, names.draw(NAMES)) for reply in replies)
    parser = ReplyParser(LIMIT)
    parsed: list[Reply] = []
    while stream:
        size = sizes.draw(st.integers(1, 60))
        parsed += parser.feed(stream[:size])
        stream = stream[size:]

    assert parsed == replies
    assert parser.between_replies
