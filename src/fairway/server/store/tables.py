"""The tables as they are today. Each has the columns that are searched by, and the noun itself as a document.

How a database gets here from an older Fairway is told by `migrations`; a test holds the two together. An
index is there for each query that must stay quick among a million rows. What has ended leaves the partial ones,
so an agent's question for its open work costs the same on the first day and after a year.
"""

import sqlalchemy as sa

METADATA = sa.MetaData()


def _table(name: str, *columns: sa.Column[str] | sa.Column[int] | sa.Column[bool]) -> sa.Table:
    document = sa.Column("document", sa.Text, nullable=False)
    return sa.Table(name, METADATA, sa.Column("id", sa.Text, primary_key=True), *columns, document)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _time(name: str, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=nullable)


PROJECTS = _table("projects")

AGENTS = _table("agents", _text("project_id"), _time("last_seen_at", nullable=True))
sa.Index("agents_of_project", AGENTS.c.project_id, AGENTS.c.id)

#: Under the agent's id.
LEASES = _table("leases", sa.Column("fencing_token", sa.BigInteger, nullable=False))

API_KEYS = _table("api_keys", _text("project_id"))
sa.Index("api_keys_of_project", API_KEYS.c.project_id, API_KEYS.c.id)

APPLICATIONS = _table(
    "applications",
    _text("project_id"),
    _text("agent_id"),
    _text("name"),
    _text("kind"),
    _text("repository_id"),
    _text("path"),
    _text("config_filename"),
    sa.Column("disabled", sa.Boolean, nullable=False),
    _text("sync_status"),
    #: Of the whole, as its live state says; it is not part of the document.
    sa.Column("health", sa.Text, nullable=False, server_default="unknown"),
    _time("deleted_at", nullable=True),
    _time("updated_at"),
)
_KEPT = APPLICATIONS.c.deleted_at.is_(None)
for _name, _columns in {
    "applications_of_agent": (APPLICATIONS.c.agent_id, APPLICATIONS.c.id),
    "applications_by_update": (APPLICATIONS.c.project_id, APPLICATIONS.c.updated_at.desc(), APPLICATIONS.c.id),
    "applications_by_state": (
        APPLICATIONS.c.project_id,
        APPLICATIONS.c.disabled,
        APPLICATIONS.c.updated_at.desc(),
        APPLICATIONS.c.id,
    ),
    "applications_by_path": (APPLICATIONS.c.project_id, APPLICATIONS.c.repository_id, APPLICATIONS.c.path),
    "applications_counted": (
        APPLICATIONS.c.project_id,
        APPLICATIONS.c.sync_status,
        APPLICATIONS.c.health,
        APPLICATIONS.c.disabled,
        APPLICATIONS.c.id,
    ),
    "applications_by_name": (APPLICATIONS.c.project_id, APPLICATIONS.c.name),
}.items():
    sa.Index(_name, *_columns, sqlite_where=_KEPT, postgresql_where=_KEPT)

DEPLOYMENTS = _table(
    "deployments",
    _text("project_id"),
    _text("agent_id"),
    _text("application_id"),
    _text("application_name"),
    _text("kind"),
    _text("status"),
    _time("created_at"),
    _time("updated_at"),
    _time("completed_at", nullable=True),
)
_UPDATED = (DEPLOYMENTS.c.updated_at.desc(), DEPLOYMENTS.c.id)
sa.Index("deployments_by_update", DEPLOYMENTS.c.project_id, *_UPDATED)
sa.Index("deployments_by_status", DEPLOYMENTS.c.project_id, DEPLOYMENTS.c.status, *_UPDATED)
sa.Index("deployments_by_kind", DEPLOYMENTS.c.project_id, DEPLOYMENTS.c.kind, *_UPDATED)
sa.Index("deployments_by_name", DEPLOYMENTS.c.project_id, DEPLOYMENTS.c.application_name, *_UPDATED)
sa.Index("deployments_of_application", DEPLOYMENTS.c.application_id, *_UPDATED)
_CREATED = (DEPLOYMENTS.c.created_at.desc(), DEPLOYMENTS.c.id)
sa.Index("deployments_by_creation", DEPLOYMENTS.c.project_id, *_CREATED)
sa.Index("deployments_of_status_by_creation", DEPLOYMENTS.c.project_id, DEPLOYMENTS.c.status, *_CREATED)
sa.Index("deployments_of_kind_by_creation", DEPLOYMENTS.c.project_id, DEPLOYMENTS.c.kind, *_CREATED)
sa.Index("deployments_in_order", DEPLOYMENTS.c.application_id, *_CREATED)
_OPEN = DEPLOYMENTS.c.completed_at.is_(None)
sa.Index(
    "deployments_open",
    DEPLOYMENTS.c.agent_id,
    DEPLOYMENTS.c.created_at,
    DEPLOYMENTS.c.id,
    sqlite_where=_OPEN,
    postgresql_where=_OPEN,
)


#: Labels are rows, so that a filter by label finds its rows before a page is cut.
APPLICATION_LABELS = sa.Table(
    "application_labels",
    METADATA,
    *(sa.Column(column, sa.Text, primary_key=True) for column in ("key", "value", "owner_id")),
)
# With all columns: else SQLite goes through everything that has the label for each application it asks about.
sa.Index(
    "application_labels_of_owner", APPLICATION_LABELS.c.owner_id, APPLICATION_LABELS.c.key, APPLICATION_LABELS.c.value
)

#: Deployments are too many to be sorted, so their labels repeat what they are ordered by.
DEPLOYMENT_LABELS = sa.Table(
    "deployment_labels",
    METADATA,
    *(sa.Column(column, sa.Text, primary_key=True) for column in ("owner_id", "key")),
    _text("value"),
    _text("project_id"),
    _time("updated_at"),
    #: The default is for older replicas, which do not know the column: on PostgreSQL it is the present moment.
    sa.Column("created_at", sa.BigInteger, nullable=False, server_default="0"),
)
_OF_LABEL = (DEPLOYMENT_LABELS.c.project_id, DEPLOYMENT_LABELS.c.key, DEPLOYMENT_LABELS.c.value)
for _name, _moment in {
    "deployment_labels_by_update": DEPLOYMENT_LABELS.c.updated_at,
    "deployment_labels_by_creation": DEPLOYMENT_LABELS.c.created_at,
}.items():
    sa.Index(_name, *_OF_LABEL, _moment.desc(), DEPLOYMENT_LABELS.c.owner_id)

COMMANDS = _table(
    "commands",
    _text("project_id"),
    _text("agent_id"),
    _text("application_id"),
    _text("deployment_id"),
    _text("status"),
    _time("created_at"),
    _time("handled_at", nullable=True),
)
_ASKED = (COMMANDS.c.created_at.desc(), COMMANDS.c.id)
sa.Index("commands_by_time", COMMANDS.c.project_id, *_ASKED)
sa.Index("commands_by_status", COMMANDS.c.project_id, COMMANDS.c.status, *_ASKED)
sa.Index("commands_of_application", COMMANDS.c.application_id, *_ASKED)
sa.Index("commands_of_deployment", COMMANDS.c.deployment_id, *_ASKED)
_WAITING = COMMANDS.c.handled_at.is_(None)
sa.Index(
    "commands_waiting",
    COMMANDS.c.agent_id,
    COMMANDS.c.created_at,
    COMMANDS.c.id,
    sqlite_where=_WAITING,
    postgresql_where=_WAITING,
)
_ANSWERED = COMMANDS.c.handled_at.is_not(None)
sa.Index("commands_answered", COMMANDS.c.handled_at, sqlite_where=_ANSWERED, postgresql_where=_ANSWERED)
COMMAND_OUTPUTS = sa.Table(
    "command_outputs",
    METADATA,
    sa.Column("command_id", sa.Text, primary_key=True),
    sa.Column("output", sa.LargeBinary, nullable=False),
)

EVENTS = _table("events", _text("project_id"), _text("key"), _text("name"), _text("status"), _time("created_at"))
_TOLD = (EVENTS.c.created_at.desc(), EVENTS.c.id)
sa.Index("events_by_time", EVENTS.c.project_id, EVENTS.c.created_at, EVENTS.c.id)
sa.Index("events_by_key", EVENTS.c.project_id, EVENTS.c.key, *_TOLD)
sa.Index("events_by_name", EVENTS.c.project_id, EVENTS.c.name, *_TOLD)
sa.Index("events_by_status", EVENTS.c.project_id, EVENTS.c.status, *_TOLD)

CHAINS = _table("chains", _text("project_id"), _time("created_at"))
sa.Index("chains_by_time", CHAINS.c.project_id, CHAINS.c.created_at.desc(), CHAINS.c.id)

#: The id is the application's.
LIVE_STATES = _table("live_states")

#: The id is the agent's; the document is everything it found.
SUGGESTIONS = _table("suggestions")

SHARED_OBJECTS = sa.Table(
    "shared_objects",
    METADATA,
    *(sa.Column(column, sa.Text, primary_key=True) for column in ("application_id", "plugin", "key")),
    sa.Column("object", sa.LargeBinary, nullable=False),
)

#: The id is the name by which a person signs in.
USERS = _table("users")

#: Roles that somebody made; the built-in ones are in the code. The id is the name.
ROLES = _table("roles")

#: The id is a hash of what the browser's cookie holds.
SESSIONS = _table("sessions", _text("user_id"), _time("expires_at"))
sa.Index("sessions_of_user", SESSIONS.c.user_id)
sa.Index("sessions_by_end", SESSIONS.c.expires_at)

#: Links with which somebody signs in once. The id is a hash of what the link holds.
SIGN_IN_LINKS = _table("sign_in_links", _text("user_id"), _time("expires_at"))
sa.Index("sign_in_links_of_user", SIGN_IN_LINKS.c.user_id)
sa.Index("sign_in_links_by_end", SIGN_IN_LINKS.c.expires_at)

AUDIT = _table("audit", _text("project_id"), _time("created_at"), _text("actor"), _text("action"), _text("subject_id"))
_RECORDED = (AUDIT.c.created_at.desc(), AUDIT.c.id)
sa.Index("audit_by_time", AUDIT.c.project_id, *_RECORDED)
sa.Index("audit_by_actor", AUDIT.c.project_id, AUDIT.c.actor, *_RECORDED)
sa.Index("audit_by_action", AUDIT.c.project_id, AUDIT.c.action, *_RECORDED)
sa.Index("audit_by_subject", AUDIT.c.project_id, AUDIT.c.subject_id, *_RECORDED)

#: Places that tell of pushes. The id is part of the address they call.
WEBHOOKS = _table("webhooks", _text("project_id"))
sa.Index("webhooks_of_project", WEBHOOKS.c.project_id, WEBHOOKS.c.id)

#: What holds for the whole server, such as which group has which role; a row each.
SETTINGS = _table("settings")

#: What transactions changed, so that one replica learns what another one stored. Empty on SQLite: that is one process.
CHANGES = sa.Table(
    "changes",
    METADATA,
    #: PostgreSQL's own number of the transaction, and the place of the change in it.
    sa.Column("transaction_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    _text("kind"),
    _text("id"),
    _text("project_id"),
    _time("created_at"),
)
