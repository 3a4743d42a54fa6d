"""`fairway up`: everything on this machine, started by one command and stopped by Ctrl-C.

command       the options, and the order in which things are started
places        where everything is kept, and that nobody else uses it
children      the server and the agent, as processes that are kept running
first_key     the key with which we call our own server
registration  the agent and the applications, made known to the server
demo          a Git repository to play with
follow        what happens, as it happens
board         how that is drawn
rest          whether everything has come to rest as it should
"""
