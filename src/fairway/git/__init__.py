"""Git as Fairway needs it: mirrors that are read without a checkout, commits made without one, exact YAML edits.

Read from the top: `remote` and `credentials` say where and who, `mirror` fetches and reads, `changes` compares,
`materialise` writes a commit's files to a directory, `push` commits and pushes an edit, `yaml_edit` makes the edit. The
git command does the work; no library is used. Nothing here knows what an application or a deployment is.
"""
