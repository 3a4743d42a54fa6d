"""People for tests."""

from typing import Any

from fairway.model.user import User
from tests.unit.model.builders import NOW


def a_user(id: str = "jo", **fields: Any) -> User:
    return User(**{"id": id, "created_at": NOW, "updated_at": NOW, **fields})
