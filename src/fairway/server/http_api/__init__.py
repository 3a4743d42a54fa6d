"""The server over HTTP: probes and numbers for machines, and what the store holds as JSON, to read.

`app` lists the routes, one module for each noun answers them, `query` reads what they are asked with, `errors` says
what goes wrong, `listener` puts it all on a port. Nothing here changes anything: that is done over gRPC so far.
"""
