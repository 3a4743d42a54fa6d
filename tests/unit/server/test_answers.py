"""Which calls may have large answers."""

from fairway.rpc.agent_api import messages as agent_messages
from fairway.rpc.user_api import messages as user_messages
from fairway.server.answers import may_be_large


def test_calls_with_more_than_a_few_words_to_answer_are_bounded() -> None:
    unbounded = [
        method
        for service in (agent_messages, user_messages)
        for each in service.DESCRIPTOR.services_by_name.values()
        for method in each.methods
        if not may_be_large(f"/{each.full_name}/{method.name}")
    ]
    large = [
        method.name
        for method in unbounded
        if any(field.is_repeated or field.message_type for field in method.output_type.fields)
    ]

    assert large == []
    assert len(unbounded) > 20
