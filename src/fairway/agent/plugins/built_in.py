"""The plugins that Fairway brings along, by the name that `builtin:` has for them."""

from typing import Final

#: Their classes. Here as text: an agent does not load them, its plugin host does.
BUILT_IN: Final = {
    "scriptrun": "fairway.plugins.scriptrun.plugin:ScriptRun",
}
#: Those that every agent has, because their stages fit into every application.
ALWAYS: Final = ("scriptrun",)
