"""Where the truth is kept: SQLite in one file by default, PostgreSQL for several replicas.

`store.Store` runs pieces of work in transactions; beside it stands a module of plain functions for each noun,
which those pieces of work call. A row is the noun as one JSON document plus the columns that are searched
by (`tables`), so a noun can gain a field without a migration. Statuses are not judged here: a change is a
function of the model that is run while the row is locked, and what it refuses is not written.
"""
