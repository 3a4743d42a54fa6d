"""What an agent takes from a push to the end, for many applications at once, for much output, and for nothing at all.

Server, agent and plugins are processes of their own, as a person starts them; a bare operation of the same sort is
timed beside each in turns. CPU and memory are those of the agent with its launcher and its plugins.
"""

import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.agent_site import AgentSite, an_agent_site
from bench.figures import Reading
from tests.integration.agent.running import an_application_file, script

TURNS, STAGES, TOUCHED, IDLE = 20, 20, 200, 5_000
#: Of the bare loop over as many applications, one in so many is run.
_PART = 5
OUTPUT_BYTES = 100_000_000
_PRINT = f"head -c {OUTPUT_BYTES} /dev/zero | tr '\\0' x | fold -w 99"
#: How long an idle agent is looked at.
_SECONDS = 20.0


def bench_agent() -> list[Reading]:
    """Everything about an agent."""
    pushing = {
        "one/app.pipecd.yaml": _file("one", script("cat version")),
        "many/app.pipecd.yaml": _file("many", *[script("true")] * STAGES),
        "loud/app.pipecd.yaml": _file("loud", script(_PRINT)),
    }
    readings = _on_a_site(pushing, lambda site: [*_push(site), *_stages(site), *_output(site)])
    touched = {f"app-{each}/app.pipecd.yaml": _file(f"app-{each}", script("true")) for each in range(TOUCHED)}
    readings += _on_a_site(touched, _touched)
    quiet = "  trigger:\n    onCommit:\n      disabled: true\n"
    idle = {f"app-{each}/app.pipecd.yaml": _file(f"app-{each}", script("true"), spec=quiet) for each in range(IDLE)}
    return readings + _on_a_site(idle, _idle)


def _on_a_site(files: Mapping[str, str], measure: Callable[[AgentSite], list[Reading]]) -> list[Reading]:
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as folder, an_agent_site(Path(folder), files) as site:
        return measure(site)


def _push(site: AgentSite) -> list[Reading]:
    number, bare, ours = site.ends.wait(3), [], []
    for turn in range(TURNS):
        site.origin.commit({"one/version": f"{turn}\n"})
        start = time.perf_counter()
        number = site.ends.wait(number + 1)
        ours.append(time.perf_counter() - start)
        bare.append(_bare_push(site))
    both = [(statistics.median(each) * 1000, min(each) * 1000) for each in (ours, bare)]
    (took, best), (least, best_bare) = both
    times = f"{took / least:.1f}×, at best {best / best_bare:.1f}×"
    value = f"{took:.0f} ms, at best {best:.0f}; bare {least:.0f} and {best_bare:.0f}; {times}"
    return [Reading("push → one script has ended; bare: fetch, sh, 10 durable writes", value, "500 ms, 2×")]


def _bare_push(site: AgentSite) -> float:
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


def _stages(site: AgentSite) -> list[Reading]:
    number, each, bare = site.ends.wait(3), [], []
    for turn in range(2):
        site.origin.commit({"many/version": f"{turn}\n"})
        start = time.perf_counter()
        number = site.ends.wait(number + 1)
        each.append((time.perf_counter() - start) / STAGES * 1000)
        start = time.perf_counter()
        for _ in range(STAGES):
            subprocess.run(["/bin/sh", "-l", "-c", "true"], check=True)
        bare.append((time.perf_counter() - start) / STAGES * 1000)
    value = f"{statistics.median(each):.0f} ms, at best {min(each):.0f}; bare sh {statistics.median(bare):.0f}"
    return [Reading(f"{STAGES} stages of `true`: each", value, "40 ms")]


def _output(site: AgentSite) -> list[Reading]:
    number, before, took, bare = site.ends.wait(3), site.megabytes(), [], []
    for turn in range(2):
        start = time.perf_counter()
        subprocess.run(["/bin/sh", "-c", f"{_PRINT} > {site.folder}/output"], check=True)
        bare.append(time.perf_counter() - start)
        site.origin.commit({"loud/version": f"{turn}\n"})
        start = time.perf_counter()
        number = site.ends.wait(number + 1)
        took.append(time.perf_counter() - start)
    value = f"{min(took):.1f} s; sh > file takes {min(bare):.1f} s; {min(took) / min(bare):.1f}×"
    memory = f"{before:.0f} MB, {site.most_megabytes():.0f} MB, {site.megabytes():.0f} MB"
    return [
        Reading(f"{OUTPUT_BYTES // 1_000_000} MB of output", value),
        Reading("memory before, at most, and after", memory, "flat"),
    ]


def _touched(site: AgentSite) -> list[Reading]:
    number, cpu = site.ends.wait(TOUCHED), site.cpu_seconds()
    site.origin.commit({f"app-{each}/version": "2\n" for each in range(TOUCHED)})
    start = time.perf_counter()
    site.ends.wait(number + TOUCHED)
    took = time.perf_counter() - start
    cpu = site.cpu_seconds() - cpu
    bare, bare_cpu = _bare_touched(site)
    found = f"{took:.1f} s, {cpu:.1f} s of CPU, at most {site.most_megabytes():.0f} MB"
    alone = f"{TOUCHED} × git archive and sh: {bare:.1f} s, {bare_cpu:.1f} s of CPU"
    return [Reading(f"{TOUCHED} applications touched by one commit", f"{found}; {alone}; {took / bare:.1f}×")]


def _bare_touched(site: AgentSite) -> tuple[float, float]:
    """One after the other: the tree of the commit, the script, and gone again. Seconds, and seconds of CPU."""
    before, start = _children_cpu(), time.perf_counter()
    for each in range(TOUCHED // _PART):
        tree = site.folder / "bare" / str(each)
        tree.mkdir(parents=True)
        archive = f'git -C "$1" archive main | tar -x -C "$2" && cd "$2/app-{each}" && sh -l -c true; rm -rf "$2"'
        subprocess.run(["/bin/sh", "-c", archive, "sh", site.origin.bare, tree], check=True)
    return (time.perf_counter() - start) * _PART, (_children_cpu() - before) * _PART


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _idle(site: AgentSite) -> list[Reading]:
    # Calm, once it has read what was registered.
    deadline = time.monotonic() + 120
    while site.cpu_share(1.0) > 0.05 and time.monotonic() < deadline:
        pass
    share = site.cpu_share(_SECONDS)
    return [
        Reading(f"{IDLE:,} applications, idle for {_SECONDS:.0f} s: CPU", f"{share:.2%}", "1 %"),
        Reading(f"{IDLE:,} applications, idle: memory of agent and plugins", _memory(site), "130 MB"),
    ]


def _memory(site: AgentSite) -> str:
    """The agent and its plugins, for which there is a goal, and the launcher beside them."""
    launcher, *each = [process.megabytes() for process in site.processes()]
    return f"{sum(each):.0f} MB ({' + '.join(f'{part:.0f}' for part in each)}), and {launcher:.0f} of the launcher"


def _file(name: str, *stages: str, spec: str = "") -> str:
    return an_application_file(*stages, spec=spec).replace("name: web", f"name: {name}")
