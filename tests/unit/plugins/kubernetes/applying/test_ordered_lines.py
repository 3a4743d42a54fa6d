"""Log lines in the order of the manifests."""

from types import SimpleNamespace
from typing import Any

from fairway.kube.manifest import Key
from fairway.plugins.kubernetes.applying.ordered_lines import OrderedLines


def test_lines_come_in_the_order_of_the_manifests_whichever_object_is_first() -> None:
    said: list[str] = []
    log: Any = SimpleNamespace(info=said.append)
    a, b, c, d = (Key("", "ConfigMap", "shop", name) for name in "abcd")
    lines = OrderedLines(log, [a, b, c, d])

    lines.say(c, "c: created")
    lines.say(b, "")
    assert said == []
    lines.say(a, "a: created")
    lines.say(d, "d: created")

    assert said == ["a: created", "c: created", "d: created"]
