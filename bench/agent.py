"""What an agent takes from a push to the end, for many applications at once, for much output, and for nothing at all.

Server, agent and plugins are processes of their own, as a person starts them; a bare operation of the same sort is
timed beside each in turns. CPU and memory are those of the agent and of the process with its plugins.
"""

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.figures import Reading
from bench.process import ServerProcess
from tests.acceptance.agent.sites import Site, a_site, children, until
from tests.integration.agent.running import an_application_file, script

TURNS, STAGES, TOUCHED, IDLE = 8, 20, 200, 5_000
OUTPUT_BYTES = 100_000_000
#: How long an idle agent is looked at.
_SECONDS = 10.0


def bench_agent() -> list[Reading]:
    """Everything about an agent."""
    print_output = f"head -c {OUTPUT_BYTES} /dev/zero | tr '\\0' x | fold -w 99"
    pushing = {
        "one/app.pipecd.yaml": _file("one", script("cat version")),
        "many/app.pipecd.yaml": _file("many", *[script("true")] * STAGES),
        "loud/app.pipecd.yaml": _file("loud", script(print_output)),
    }
    readings = _on_a_site(pushing, lambda site: [*_push(site), *_stages(site), *_output(site, print_output)])
    touched = {f"app-{each}/app.pipecd.yaml": _file(f"app-{each}", script("true")) for each in range(TOUCHED)}
    readings += _on_a_site(touched, _touched)
    quiet = "  trigger:\n    onCommit:\n      disabled: true\n"
    idle = {f"app-{each}/app.pipecd.yaml": _file(f"app-{each}", script("true"), spec=quiet) for each in range(IDLE)}
    return readings + _on_a_site(idle, _idle)


def _on_a_site(files: Mapping[str, str], measure: Callable[[Site], list[Reading]]) -> list[Reading]:
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as folder, a_site(Path(folder), files) as site:
        site.add_applications(*(file.split("/")[0] for file in files))
        return measure(site)


def _push(site: Site) -> list[Reading]:
    bare, ours = [], []
    for turn in range(TURNS):
        number = _settled(site)
        site.origin.commit({"one/version": f"{turn}\n"})
        start = time.perf_counter()
        _settled(site, number + 1)
        ours.append(time.perf_counter() - start)
        bare.append(_bare_push(site))
    took, least = statistics.median(ours), statistics.median(bare)
    ratio = f"{took / least:.1f}× bare fetch, script and ten durable writes ({least * 1000:.0f} ms)"
    return [Reading("push → one script has ended", f"{took * 1000:.0f} ms; {ratio}", "500 ms, 2×")]


def _bare_push(site: Site) -> float:
    clone = site.folder / "clone.git"
    if not clone.exists():
        subprocess.run(["git", "clone", "--quiet", "--bare", site.origin.bare, clone], check=True)
    start = time.perf_counter()
    subprocess.run(["git", "-C", clone, "fetch", "--quiet", site.origin.bare, "main"], check=True)
    subprocess.run(["/bin/sh", "-l", "-c", "cat /dev/null"], check=True)
    with open(site.folder / "durable", "ab") as file:
        for _ in range(10):
            file.write(b"x" * 500)
            file.flush()
            os.fsync(file.fileno())
    return time.perf_counter() - start


def _stages(site: Site) -> list[Reading]:
    number = _settled(site)
    site.origin.commit({"many/version": "2\n"})
    start = time.perf_counter()
    _settled(site, number + 1)
    each = (time.perf_counter() - start) / STAGES
    return [Reading(f"{STAGES} stages of `true`: each", f"{each * 1000:.0f} ms", "40 ms")]


def _output(site: Site, command: str) -> list[Reading]:
    number, before = _settled(site), _memory(site)
    start = time.perf_counter()
    subprocess.run(["/bin/sh", "-c", f"{command} > {site.folder}/output"], check=True)
    bare = time.perf_counter() - start
    site.origin.commit({"loud/version": "2\n"})
    start = time.perf_counter()
    _settled(site, number + 1)
    took = time.perf_counter() - start
    return [
        Reading(f"{OUTPUT_BYTES // 1_000_000} MB of output", f"{took:.1f} s; sh > file takes {bare:.1f} s"),
        Reading("memory before, and at most", f"{before:.0f} MB, {_most_memory(site):.0f} MB"),
    ]


def _touched(site: Site) -> list[Reading]:
    number, cpu = _settled(site, TOUCHED), _cpu(site)
    site.origin.commit({f"app-{each}/version": "2\n" for each in range(TOUCHED)})
    start = time.perf_counter()
    _settled(site, number + TOUCHED)
    took = time.perf_counter() - start
    found = f"{took:.1f} s, {_cpu(site) - cpu:.1f} s of CPU, at most {_most_memory(site):.0f} MB"
    return [Reading(f"{TOUCHED} applications touched by one commit", found)]


def _idle(site: Site) -> list[Reading]:
    # Calm, once it has read what was registered.
    until(lambda: _cpu_share(site, 1.0) < 0.05)
    share = _cpu_share(site, _SECONDS)
    return [
        Reading(f"{IDLE:,} applications, idle: CPU", f"{share:.2%}", "1 %"),
        Reading(f"{IDLE:,} applications, idle: memory", f"{_memory(site):.0f} MB", "130 MB"),
    ]


def _settled(site: Site, number: int = 3) -> int:
    """How many deployments there are, once there are at least so many and all have ended."""

    def look() -> int | None:
        found = site.deployments()
        return len(found) if len(found) >= number and all(each.status.is_terminal for each in found) else None

    return until(look)


def _processes(site: Site) -> list[ServerProcess]:
    return [ServerProcess(pid, 0, 0, "") for pid in (site.agent.pid, *children(site.agent.pid))]


def _cpu(site: Site) -> float:
    return sum(each.cpu_seconds() for each in _processes(site))


def _cpu_share(site: Site, seconds: float) -> float:
    before, start = _cpu(site), time.monotonic()
    time.sleep(seconds)
    return (_cpu(site) - before) / (time.monotonic() - start)


def _memory(site: Site) -> float:
    return sum(each.megabytes() for each in _processes(site))


def _most_memory(site: Site) -> float:
    return sum(each.most_megabytes() for each in _processes(site))


def _file(name: str, *stages: str, spec: str = "") -> str:
    return an_application_file(*stages, spec=spec).replace("name: web", f"name: {name}")
