"""What runs of each application, as its agent last told it. Which report is the newer is the service's to judge."""

from collections.abc import Callable

import sqlalchemy as sa

from fairway.model.live_state import LiveState
from fairway.server.store.applications import note_health
from fairway.server.store.rows import Rows
from fairway.server.store.tables import LIVE_STATES

_ROWS = Rows(LIVE_STATES, LiveState, "live state of application", lambda state: {"id": state.application_id})


def save_live_state(connection: sa.Connection, state: LiveState) -> None:
    """Store the state of an application in place of the one before."""
    _ROWS.save(connection, state)
    note_health(connection, state.application_id, state.health)


def load_live_state(connection: sa.Connection, application_id: str) -> LiveState:
    """The state of an application."""
    return _ROWS.load(connection, application_id)


def update_live_state(
    connection: sa.Connection, application_id: str, change: Callable[[LiveState], LiveState]
) -> LiveState:
    """The state as `change` makes it, stored."""

    def remarked(found: LiveState) -> LiveState:
        changed = change(found)
        if changed.health is not found.health:
            note_health(connection, application_id, changed.health)
        return changed

    return _ROWS.update(connection, application_id, remarked)
