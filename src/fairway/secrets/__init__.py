"""Sealed values: opened near the target, put where they are needed, and kept out of everything that is shown.

    secret.py     a decrypted value that does not show itself, and `SecretError`
    sealed.py     the sealed format: `seal` with the public key, `PrivateKey.unseal` with the private one
    template.py   Go templates over `.encryptedSecrets` and `.attachment`: values, texts and limits
    renderer.py   the child process that renders them, with limits on CPU time and memory
    render_process.py   its program
    engine.py     the template library in it, without the machine's environment
    actions.py    which `{{ … }}` of a script are ours, and which belong to docker, kubectl or awk
    render.py     the files of a materialised tree, and the text of scripts, with the values in them
    forms.py      the shapes in which a value turns up in output: base64, URL, JSON, shell
    redact.py     masks all of those shapes in a stream of log bytes

Where keys and trees come from is the agent's business; nothing here reads a setting or talks to a network.
"""
