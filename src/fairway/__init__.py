"""Fairway: one continuous-delivery system for every platform.

The packages tell the story of a commit travelling to production: `git` sees it, `config` reads what it asks
for, `delivery` decides, `rpc` carries the decision to servers, agents and plugins in `model` nouns.
Who may import whom is held by import-linter; see docs/architecture.md.
"""

from fairway.interpreter import spare_rich

__version__ = "0.1.0"

spare_rich()
