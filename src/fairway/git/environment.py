"""The environment of every git process: ours alone.

Neither the machine's nor a user's configuration reaches git, nothing prompts, no hook, filter or transport helper runs.
Settings travel as GIT_CONFIG_* variables, so that they neither show in the process list nor stay in the mirror. What a
remote needs to log in is added by `credentials.py` and is a path or a command, never a secret.
"""

import os
from collections.abc import Mapping

from fairway.git.credentials import Access

#: Variables of our own process that git may see; everything else, above all GIT_*, is left out.
_PASSED_ON = (
    "PATH",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    *(name for proxy in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (proxy, proxy.upper())),
)
_FIXED = {
    "HOME": "/nonexistent",  # no ~/.netrc, no attributes of the user
    "LC_ALL": "C",  # failures.py reads git's words
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",  # so never ext::
}
_SETTINGS = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.attributesFile", os.devnull),
    ("safe.directory", "*"),
    ("credential.helper", ""),  # forget every helper configured elsewhere
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("i18n.logOutputEncoding", "UTF-8"),
    # Servers say something every 5 seconds while they count and compress, so this is a line that is dead.
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "30"),
    ("gc.autoDetach", "false"),  # nothing goes on in a mirror behind its owner's back
    ("gc.pruneExpire", "90.days.ago"),  # a commit that is being deployed outlives a forced push
)


def git_environment(access: Access, inherited: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a git process: no user's or machine's configuration, no prompts, no helpers."""
    settings = [*_SETTINGS, *access.settings]
    numbered = {f"GIT_CONFIG_KEY_{i}": key for i, (key, _) in enumerate(settings)}
    numbered |= {f"GIT_CONFIG_VALUE_{i}": value for i, (_, value) in enumerate(settings)}
    passed = {name: inherited[name] for name in _PASSED_ON if name in inherited}
    return passed | _FIXED | access.environment | numbered | {"GIT_CONFIG_COUNT": str(len(settings))}
