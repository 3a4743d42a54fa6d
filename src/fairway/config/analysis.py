"""Metric verdicts: what the ANALYSIS stage asks, and the templates that several applications share.

An entry is written out in the stage, or names an entry of the kind `AnalysisTemplate` in `.pipe/`. v0 keeps the
providers in the agent's file, v1 in the analysis plugin's configuration; the types are the same.
"""

from typing import Literal

from fairway.config.scalars import Duration
from fairway.config.settings import Problems, Settings, ZeroMeansDefault
from fairway.config.stages import StageOptions


class TemplateReference(Settings, frozen=True):
    """An entry of an AnalysisTemplate, with values for its placeholders."""

    name: str
    app_args: dict[str, str] = {}

    def problems(self) -> Problems:
        return [] if self.name else [("name", "is empty; name an entry of an AnalysisTemplate")]


class Expected(Settings, frozen=True):
    """The range that is good."""

    min: float | None = None
    max: float | None = None


class Check(ZeroMeansDefault, frozen=True):
    """What metrics, logs and HTTP checks have in common."""

    template: TemplateReference | None = None
    interval: Duration | None = None
    #: How many failed checks are still good.
    failure_limit: int = 0
    skip_on_no_data: bool = False
    timeout: Duration = Duration(seconds=30)

    def missing(self, names: dict[str, object]) -> Problems:
        """Which of the named fields an entry without template lacks."""
        if self.template is not None:
            return []
        return [(name, "is missing (or name a template)") for name, value in names.items() if not value]


class Metric(Check, frozen=True):
    """A query whose answers are judged."""

    strategy: Literal["THRESHOLD", "PREVIOUS", "CANARY_BASELINE", "CANARY_PRIMARY"] = "THRESHOLD"
    provider: str = ""
    query: str = ""
    #: Needed for THRESHOLD.
    expected: Expected | None = None
    #: Which way of differing is bad, for the comparing strategies.
    deviation: Literal["EITHER", "HIGH", "LOW"] = "EITHER"
    canary_args: dict[str, str] = {}
    baseline_args: dict[str, str] = {}
    primary_args: dict[str, str] = {}

    def problems(self) -> Problems:
        found = self.missing({"provider": self.provider, "query": self.query, "interval": self.interval})
        has_range = self.expected is not None and (self.expected.min is not None or self.expected.max is not None)
        if self.template is None and self.strategy == "THRESHOLD" and not has_range:
            found.append(("expected", "is missing; the strategy THRESHOLD needs min or max"))
        return found


class LogQuery(Check, frozen=True):
    """A log query that must find nothing."""

    provider: str = ""
    query: str = ""

    def problems(self) -> Problems:
        return self.missing({"provider": self.provider, "query": self.query, "interval": self.interval})


class Header(Settings, frozen=True):
    """One HTTP header."""

    key: str
    value: str


class HttpCheck(Check, frozen=True):
    """A request whose answer must be the expected one."""

    without_effect = {"expected": "write expectedCode or expectedResponse"}

    url: str = ""
    method: str = "GET"
    headers: tuple[Header, ...] = ()
    expected_code: int = 200
    expected_response: str = ""

    def problems(self) -> Problems:
        return self.missing({"url": self.url, "interval": self.interval})


class AnalysisOptions(StageOptions, frozen=True):
    """ANALYSIS: watch for some time, fail when what is measured is bad."""

    without_effect = {"threshold": "write failureLimit in each metric, log or HTTP check"}

    duration: Duration | None = None
    #: Read for compatibility; PipeCD never used it.
    restart_threshold: int = 0
    metrics: tuple[Metric, ...] = ()
    logs: tuple[LogQuery, ...] = ()
    https: tuple[HttpCheck, ...] = ()

    def problems(self) -> Problems:
        return [] if self.duration else [("duration", f"is missing; expected {Duration.expected}")]


class AnalysisTemplateSpec(Settings, frozen=True):
    """The kind `AnalysisTemplate`: named entries for many applications."""

    metrics: dict[str, Metric] = {}
    logs: dict[str, LogQuery] = {}
    https: dict[str, HttpCheck] = {}


class AnalysisPluginConfig(Settings, frozen=True):
    """`plugins.analysis` of a v1 application."""

    app_custom_args: dict[str, str] = {}
