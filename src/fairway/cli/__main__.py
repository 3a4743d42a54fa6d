"""`python -m fairway.cli`: the same as `fairway`, for whoever knows the interpreter and not where its scripts are."""

from fairway.cli.main import app

app(prog_name="fairway")
