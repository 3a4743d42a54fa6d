"""YAML written by people → typed settings, with errors that name the file, the line and what to write instead.

    read.py          the door: one file → `Reading` (settings and problems)
    reader/          bytes → plain values → typed settings, and everything that is wrong on the way
    find.py          which files of a repository are configuration
    remembered.py    readings by blob hash, so that nothing is read twice
    schema.py        the same types → JSON Schema for editors
    settings.py, scalars.py, regex.py, problems.py
                     what the types are made of, and what is said about them
    rejected.py      shapes that were considered and turned down, with what to write instead

The types, a noun each: application, stages, platforms, analysis, agent, providers, notification, control_plane,
event_watcher, pipeline. A noun that is written in several ways has a file for the writing: application_file (with
stage_catalogue, stage_entries, secret_uses and selector_label), agent_file. Both generations of PipeCD's files and both
Weave groups become one model here; other packages never see which spelling a user chose.
"""
