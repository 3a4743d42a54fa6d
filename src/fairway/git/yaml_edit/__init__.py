"""One value of a YAML file changed, and no other byte.

path      `$.a.b[0]`: how a place in a document is named
place     the node at a path, and why it cannot be changed where it cannot
scalar    how a value is written so that it reads back as itself, in the style it had
edit      `set_scalar`, `set_scalars`: the change, and the proof that it is the only one
"""
