"""What is done to people, roles and what holds for all of them: like the other actions, permitted and on record.

Somebody's roles are theirs in every project, so whoever gives or takes them must be allowed all that they allow.
"""
