"""The environment of git: ours alone, whatever ours is."""

from fairway.git.credentials import Access
from fairway.git.environment import git_environment

HOSTILE = {
    "PATH": "/bin",
    "https_proxy": "http://proxy",
    "HOME": "/home/ada",
    "GIT_DIR": "/elsewhere",
    "GIT_SSH_COMMAND": "evil",
    "GIT_ASKPASS": "evil",
    "GIT_CONFIG_PARAMETERS": "'core.pager=evil'",
    "LD_PRELOAD": "evil.so",
    "FAIRWAY_TOKEN": "secret",
}


def test_nothing_of_the_user_or_the_machine_reaches_git() -> None:
    environment = git_environment(Access(), HOSTILE)

    plain = {name: value for name, value in environment.items() if not name.startswith("GIT_CONFIG_")}
    assert plain == {
        "PATH": "/bin",
        "https_proxy": "http://proxy",
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    }
    assert (environment["GIT_CONFIG_NOSYSTEM"], environment["GIT_CONFIG_GLOBAL"]) == ("1", "/dev/null")


def test_settings_are_numbered_and_those_of_the_access_come_last() -> None:
    access = Access()
    access.settings.append(("http.sslCAInfo", "/ca.pem"))

    environment = git_environment(access, {})

    last = int(environment["GIT_CONFIG_COUNT"]) - 1
    pairs = {environment[f"GIT_CONFIG_KEY_{i}"]: environment[f"GIT_CONFIG_VALUE_{i}"] for i in range(last + 1)}
    assert environment[f"GIT_CONFIG_KEY_{last}"] == "http.sslCAInfo"
    wanted = {"core.hooksPath": "/dev/null", "core.fsmonitor": "false", "credential.helper": "", "safe.directory": "*"}
    assert pairs | wanted == pairs
