"""Pushes that Git hosts tell of: whether a delivery is genuine, what was pushed, and which agents should know.

A push becomes a hint and nothing else, so the worst that a forged one could do is to let an agent look once more. It
is refused all the same.

    delivery    what arrives, what is read from it, and the interface of a provider
    github … generic    one Git host each: how it signs, what it sends
    providers   the table of them
    webhook     the noun that is stored
    reception   a delivery from its first byte to its hints
    actions     making and deleting webhooks
"""
