"""What replicas tell each other: each thing once, in texts that are never too long."""

from hypothesis import given
from hypothesis import strategies as st

from fairway.server.hints import HintTopic
from fairway.server.logs import LogGrowth, StageLogKey
from fairway.server.messages import LONGEST, Message, Outbox, opened, packed

IDS = st.text(max_size=300).filter(lambda text: text.isprintable())
HINTS = st.tuples(IDS, st.sampled_from(HintTopic))
GROWN = st.builds(LogGrowth, st.builds(StageLogKey, IDS, IDS, st.integers(0, 9)), st.integers(0, 2**62))


@given(st.booleans(), st.lists(HINTS, unique=True, max_size=60), st.lists(GROWN, unique=True, max_size=60))
def test_all_of_a_message_arrives_in_short_texts(
    stored: bool, hints: list[tuple[str, HintTopic]], grown: list[LogGrowth]
) -> None:
    texts = packed(Message("me", stored, tuple(hints), tuple(grown)))

    assert max(len(text.encode()) for text in texts) <= LONGEST
    messages = [message for text in texts if (message := opened(text))]
    assert len(messages) == len(texts)
    assert any(message.stored for message in messages) == stored
    assert [hint for message in messages for hint in message.hints] == hints
    assert [growth for message in messages for growth in message.grown] == grown


def test_an_id_that_fits_into_no_text_becomes_a_word_that_a_look_is_worth_while() -> None:
    hint = ("x" * 10_000, HintTopic.COMMANDS)

    assert [opened(text) for text in packed(Message("me", hints=(hint,)))] == [Message("me", stored=True)]


def test_what_no_replica_of_ours_sent_means_nothing() -> None:
    assert [opened(text) for text in ("", "{}", "[]", '{"sender": 5}', "hello")] == [None] * 5


def test_an_outbox_keeps_each_thing_once_and_takes_back_what_could_not_be_told() -> None:
    key, hint = StageLogKey("d", "s", 0), ("agent", HintTopic.COMMANDS)
    outbox = Outbox()
    for index in (5, 3, 4):
        outbox.add_hint(*hint)
        outbox.add_growth(LogGrowth(key, index))
    untold = outbox.take()

    outbox.add_stored()
    outbox.add_growth(LogGrowth(key, 9))
    outbox.put_back(untold)

    assert untold == Message(outbox.sender, False, (hint,), (LogGrowth(key, 3),))
    assert outbox.waiting.is_set()
    assert outbox.take() == Message(outbox.sender, True, (hint,), (LogGrowth(key, 3),))
    assert outbox.take() == Message(outbox.sender)
