"""Agents of these tests begin to work when each of their plugins has been started, on a busy machine too."""

from functools import partial

import pytest

from fairway.agent.plugins import supervisor
from fairway.agent.plugins.keeper import Patience
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(autouse=True)
def plugins_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have agents wait for their plugins for as long as it takes; a slow one is what `test_slow_plugins` is about."""
    monkeypatch.setattr(supervisor, "Patience", partial(Patience, together=PATIENCE_SECONDS))
