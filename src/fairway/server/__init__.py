"""The control plane: the truth about projects, agents, applications, deployments and commands, behind gRPC.

`store` keeps the truth, the services let agents and people read and change it, `hints` tell agents that a look
is worth while. Decisions stay in `delivery`, status tables in `model`: the server asks both inside the
transaction that stores the answer. It never has the credentials of a cluster or a cloud.
"""
