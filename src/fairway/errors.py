"""The roots of every error Fairway raises, and the two questions each of them answers.

    FairwayError                what went wrong and what to do next, in one sentence
    ├── UserError               the input is wrong: trying again changes nothing
    │   ├── ConfigError         (config)   a configuration file that does not say what is needed
    │   ├── InvalidTransition   (model)    a status change that the table does not allow
    │   ├── GitInputError       (git)      a ref, path or remote that Git must never be given
    │   ├── GitNotFound         (git)      a branch, commit or file that is not there
    │   ├── GitAccessError      (git)      a remote that refuses who we are
    │   ├── GitRejectedError    (git)      a remote whose own rules refuse the push
    │   ├── YamlEditError       (git)      a place in a YAML file that cannot be set
    │   ├── PatternError        (delivery) a path pattern that means nothing
    │   ├── SecretError         (secrets)  a sealed value or template that cannot be opened
    │   ├── BadAccess, UnknownKind, NotAllowed, Conflict, Invalid, AlreadyThere, NotThere
    │   │                       (kube)     what a cluster does not know, allow or accept
    │   ├── BadAccess, UnknownKind, NotAllowed, Conflict, Invalid, AlreadyThere, NotThere
    │   │                       (kube)     a cluster that cannot be reached as told, or refuses what it is asked
    │   ├── WireError           (rpc)      a message that cannot be put into our words
    │   ├── NotFound, AlreadyExists, UnusableInput, UnusableDatabase
    │   │                       (server)   what the store cannot find, take or open
    │   ├── BadCredentials, Forbidden, InvalidRequest, NotNow
    │   │                       (server)   a caller that may not, or asks for nonsense or too early or late
    │   ├── LogKeyError, LogBlockError
    │   │                       (server)   a log, or a block of one, that cannot be
    │   ├── UsageError, ProfileError, Refused, NotReached
    │   │                       (cli)      a command that cannot be meant, is refused or did not come true
    │   ├── UnreadableDelivery, TooLargeDelivery
    │   │                       (server)   what no Git host sends to a webhook
    │   ├── BadManifests, OutsideRepository, BadCharts, ToolFailed, NoTool
    │   │                       (plugins)  manifests that cannot be used, or cannot be made
    │   ├── BackupError         (server)   a backup that cannot be made or restored
    │   └── AddressInUse, HttpAddressError, BadCertificate, BadEndpoint, LogPlaceError, BadSignInProvider
    │                           (server)   a server that cannot start as it was told to
    └── TemporaryError          the machinery failed: the same call may succeed later
        ├── GitRemoteError      (git)      a remote that does not answer or moved while we pushed
        ├── GitLocalError       (git)      git itself, the disk or this machine
        ├── TreeWriteError      (secrets)  a rendered file that could not be written
        ├── ClusterAway, CredentialsRefused
        │                       (kube)     a cluster that does not answer, or not to these credentials
        ├── ClusterAway, CredentialsRefused
        │                       (kube)     a cluster that does not answer, or not to us
        ├── StoreUnavailable    (server)   a database that does not answer
        ├── NotReady            (server)   a server whose store does not answer yet
        ├── TooManyRequests     (server)   somebody who asks too often
        ├── ProviderUnavailable (server)   a sign-in provider that does not answer sensibly
        ├── TooManyDeliveries, SlowDelivery, BusyReception
        │                       (server)   a Git host that has to send a push again, later
        ├── Unreachable, TimedOut
        │                       (cli)      a server that does not answer, an end that does not come
        ├── ToolTroubled, NoToolYet
        │                       (plugins)  a tool that cannot do its work, or cannot be had, for now
        └── LogStorageError     (server)   a disk or bucket that does not take or give a log

Retry? `error.retry` says. Whose fault? A `UserError` is the author's of the input, a `TemporaryError` is that of
the machine, the network or a peer. Each package derives its own errors here and keeps the library's error as
`__cause__`.
"""

from typing import ClassVar


class FairwayError(Exception):
    """Anything Fairway raises on purpose."""

    #: Whether the same call may succeed later without anybody changing anything.
    retry: ClassVar[bool] = False


class UserError(FairwayError):
    """The input is wrong; trying again changes nothing."""


class TemporaryError(FairwayError):
    """The machinery failed; the same call may succeed later."""

    retry = True
