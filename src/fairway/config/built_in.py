"""The plugins that Fairway brings along, by the name that `builtin:` has for them."""

from typing import Final

#: Their classes. Here as text: an agent does not load them, its plugin host does.
BUILT_IN: Final = {
    "customsync": "fairway.plugins.customsync:CustomSync",
    "kubernetes": "fairway.plugins.kubernetes.plugin:Kubernetes",
    "kubernetes_multicluster": "fairway.plugins.kubernetes.plugin:KubernetesMulticluster",
    "process": "fairway.plugins.process.plugin:Process",
    "scriptrun": "fairway.plugins.scriptrun.plugin:ScriptRun",
    "wait": "fairway.plugins.wait:Wait",
    "waitapproval": "fairway.plugins.waitapproval:WaitApproval",
}
#: Those that every agent has, because their stages fit into every application.
ALWAYS: Final = ("customsync", "scriptrun", "wait", "waitapproval")
