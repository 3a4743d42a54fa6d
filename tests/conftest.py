"""Settings of the test run itself."""

from hypothesis import settings

# No test asserts a time: the machine may be busy with anything.
settings.register_profile("fairway", deadline=None)
settings.load_profile("fairway")

# Known to every test, and nothing is started before one asks.
pytest_plugins = ["tests.clusters.fixtures"]
