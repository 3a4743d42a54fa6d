"""What can go wrong with a cluster, and whose fault it is.

    UserError
    ├── BadAccess           a kubeconfig that does not say how to reach a cluster
    ├── UnknownKind         a kind that the cluster does not serve
    ├── NotAllowed          something that the credentials are not allowed to do
    ├── Conflict            a field that somebody else manages, or an object that changed meanwhile
    ├── Invalid             an object that the API server does not accept as it is
    ├── AlreadyThere        an object that is to be made and exists
    └── NotThere            an object, or its namespace, that is to be changed and does not exist
    TemporaryError
    ├── ClusterAway         a cluster that does not answer as it should
    ├── WebhookAway         a webhook that the cluster has to ask, and that does not answer
    └── CredentialsRefused  credentials that the cluster does not take (any more)
    Expired                 (internal) a place in the history that the cluster does not remember

`statuses.py` reads the API server's answers and picks one of these; nobody else looks at them.
"""

from collections.abc import Mapping, Sequence

from fairway.errors import FairwayError, TemporaryError, UserError


class BadAccess(UserError):
    """A kubeconfig that does not say how to reach a cluster."""


class UnknownKind(UserError):
    """A kind that the cluster does not serve."""


class NotAllowed(UserError):
    """Something that the credentials are not allowed to do; the message names verb, resource and namespace."""

    def __init__(self, message: str, *, verb: str = "", resource: str = "", namespace: str = "") -> None:
        super().__init__(message)
        self.verb = verb
        #: With its group, such as `deployments.apps`.
        self.resource = resource
        #: Empty where the whole cluster is meant.
        self.namespace = namespace


class Conflict(UserError):
    """A field that somebody else manages, or an object that changed since it was read."""

    def __init__(self, message: str, *, theirs: Mapping[str, Sequence[str]] = {}) -> None:
        super().__init__(message)
        #: Who manages which fields; nobody where the object changed or is another one by now.
        self.theirs = theirs

    @property
    def managers(self) -> tuple[str, ...]:
        """Who manages the fields."""
        return tuple(self.theirs)

    @property
    def fields(self) -> tuple[str, ...]:
        """What others manage."""
        return tuple(field for fields in self.theirs.values() for field in fields)


class Invalid(UserError):
    """An object that the API server does not accept as it is."""

    def __init__(self, message: str, *, causes: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        #: Field by field, what is wrong with it.
        self.causes = causes


class AlreadyThere(UserError):
    """An object that is to be made and exists."""


class NotThere(UserError):
    """An object, or its namespace, that is to be changed and does not exist."""


class ClusterAway(TemporaryError):
    """A cluster that does not answer as it should."""


class WebhookAway(TemporaryError):
    """A webhook that the cluster has to ask, and that does not answer; the cluster itself is there."""


class CredentialsRefused(TemporaryError):
    """Credentials that the cluster does not take; they may be renewed at any moment."""


class Expired(FairwayError):
    """A place in the history that the cluster does not remember: what there is has to be listed again."""
