"""YAML written by people → typed settings, with errors that name the file, the line and what to write instead.

Reading goes through these files, in this order:

    document.py      bytes → plain values and positions; refuses what is not sane YAML
    check.py         plain values → every problem at once, against the types
    kinds.py         which kind of file has which type, and how strict PipeCD is about it
    read.py          the door: one file → `Reading` (settings and problems)
    find.py          which files of a repository are configuration
    schema.py        the same types → JSON Schema for editors

The types themselves, a noun each: application.py, stages.py, platforms.py, analysis.py, agent.py,
notification.py, control_plane.py, event_watcher.py, pipeline.py. Both generations of PipeCD's files and both Weave
groups become one model here; other packages never see which spelling a user chose.
"""
