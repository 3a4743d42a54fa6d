"""Names that people choose: long enough to be found, short enough to be shown."""

import re

from fairway.server.status_codes import InvalidRequest

#: What a name, and a project's id, may have at most.
LONGEST_NAME = 200
LONGEST_ID = 50

_PROJECT_ID = re.compile(rf"[a-z0-9]([a-z0-9-]{{0,{LONGEST_ID - 2}}}[a-z0-9])?", re.ASCII)


def checked_name(name: str) -> str:
    """The name; InvalidRequest for one that nobody could find or read."""
    if not name.strip() or len(name) > LONGEST_NAME:
        raise InvalidRequest(
            f"name is {name[:LONGEST_NAME]!r}; expected 1 to {LONGEST_NAME} characters, not only spaces"
        )
    return name


def checked_project_id(id: str) -> str:
    """The id; InvalidRequest for one that would not stand in an address."""
    if not _PROJECT_ID.fullmatch(id):
        raise InvalidRequest(
            f"id is {id[:LONGEST_NAME]!r}; expected 1 to {LONGEST_ID} small letters, digits and dashes, no dash "
            "at the ends"
        )
    return id
