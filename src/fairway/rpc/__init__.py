"""The wire: PipeCD's messages and services, and the only place where they meet our own model.

    gen/             generated from proto/; imported nowhere else
    agent_api        what the server offers to agents (PipedService) and our hints
    user_api         what the server offers to people and CI (APIService)
    plugin_api       what agent and plugins offer each other
    aliases          how a servicer gets onto a server, under PipeCD's older paths too
    traces           a quiet answer to the traces that PipeCD's agents send
    context          the type of a call's context, for servicers
    channel          the options that every server and channel of ours uses
    convert/         wire ⇄ model, a file for each noun
    rules/           which requests are refused before anybody acts on them

What a call means, who may make it and what it changes is left to the server, the agent and the plugins.
"""
