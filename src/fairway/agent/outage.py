"""What is said while a server cannot be asked: that it is so, once, and once that it answers again.

Several questions are asked of it, each again and again; without hints that is every few seconds, and a log full of the
same line hides the others. An error of another sort is news all the same.
"""


class Outage:
    """What has been said, over all questions."""

    def __init__(self) -> None:
        self._unanswered: set[object] = set()
        self._said: set[type[Exception]] = set()

    def failed(self, question: object, error: Exception) -> bool:
        """A question was not answered; whether that is to be said."""
        self._unanswered.add(question)
        is_new = type(error) not in self._said
        self._said.add(type(error))
        return is_new

    def answered(self, question: object) -> bool:
        """A question was answered; whether all are again, which is to be said."""
        if question not in self._unanswered:
            return False
        self._unanswered.discard(question)
        if self._unanswered:
            return False
        self._said.clear()
        return True
