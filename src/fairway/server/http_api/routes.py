"""How a route is declared whose path ends in a verb: what is done to a thing, as a POST below it.

All of them are filed under the noun that their path begins with, and may refuse in the same ways.
"""

from litestar import post

from fairway.server.http_api.errors import CHANGE_REFUSALS


def action(path: str, summary: str, status_code: int = 200) -> post:
    """The decorator of such a route; 202 where an agent has yet to do it."""
    noun = path.split("/")[1]
    return post(path, summary=summary, tags=[noun], responses=CHANGE_REFUSALS, status_code=status_code)
