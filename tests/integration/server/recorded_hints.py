"""Hints as a server publishes them, remembered for tests."""

from fairway.server.hints import HintBoard, HintTopic


class RecordedHints(HintBoard):
    """Remembers what was published, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.published: list[tuple[str, HintTopic]] = []

    def publish(self, agent_id: str, topic: HintTopic) -> None:
        self.published.append((agent_id, topic))
        super().publish(agent_id, topic)
