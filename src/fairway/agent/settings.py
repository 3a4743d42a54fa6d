"""What an agent is told when it starts, and how it introduces itself."""

from pathlib import Path

import msgspec
from grpc import aio

from fairway.agent.launcher.link import Link
from fairway.agent.launcher.upgrading import running_version
from fairway.config.agent import AgentConfig
from fairway.git.remote import redacted
from fairway.model.agent import AgentPlugin, AgentProfile, SecretEncryption
from fairway.model.application import Repository
from fairway.secrets.render import Unsealer


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is told when it starts."""

    config: AgentConfig
    #: Where mirrors, trees and unsent reports are kept.
    data: Path
    channel: aio.Channel
    #: What the agent shows the server: project, agent and key.
    token: str
    #: Opens sealed values; None where the agent has no key for that.
    unsealer: Unsealer | None = None
    secret_encryption: SecretEncryption = SecretEncryption()
    #: The agent's file with its secrets masked, for the server to show.
    masked_config: str = ""
    #: To the launcher that keeps this agent, if one does.
    link: Link = Link()

    @property
    def profile(self) -> AgentProfile:
        """What the server is told of the agent."""
        config = self.config
        return AgentProfile(
            version=running_version(),
            config=self.masked_config,
            repositories=tuple(
                Repository(id=each.repo_id, remote=redacted(each.remote), branch=each.branch)
                for each in config.repositories
            ),
            plugins=tuple(
                AgentPlugin(name=each.name, deploy_targets=tuple(target.name for target in each.deploy_targets))
                for each in config.plugins
            ),
            secret_encryption=self.secret_encryption,
        )
