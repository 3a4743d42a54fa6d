"""Which programs there are, what each is built from, and where it is once it has been built.

Each module is pinned with its hash, and its own go.sum pins all that it needs. Kubernetes keeps its libraries in its
own repository and publishes each as a module of its own; `siblings` pins those. Where `KUBEBUILDER_ASSETS`
names a folder, as is the custom among Kubernetes' test environments, the programs that lie in it are taken from there.
"""

import os
from pathlib import Path
from typing import NamedTuple

from tools.peers.cache import cache

_K8S = "1.34.4"
_K8S_MAJOR, _K8S_MINOR, _ = _K8S.split(".")
_K8S_VERSION = "k8s.io/component-base/version"
#: Not a program: how the nodes and pods behave that kwok pretends to run.
KWOK_STAGES = "kwok-stages.yaml"


class Source(NamedTuple):
    """A Go module that programs are built from."""

    name: str
    module: str
    version: str
    #: As go.sum writes it.
    sum: str
    #: What the linker writes into the programs.
    ldflags: tuple[str, ...] = ()
    #: Folders of the module that its programs read; they are kept beside them.
    folders: tuple[str, ...] = ()


class Peer(NamedTuple):
    """One program, and what it is built from."""

    name: str
    #: What is not tested without it.
    what: str
    source: Source
    #: Where its main package is in the module.
    package: str

    @property
    def binary(self) -> Path:
        """Where it is once it has been built."""
        return cache() / f"{self.source.name}-{self.source.version}" / self.name

    @property
    def missing(self) -> str:
        """What to say when it is not there."""
        return not_tested([self])


def not_tested(peers: list[Peer]) -> str:
    """What to say when peers of one source are not there."""
    names, first = ", ".join(peer.name for peer in peers), peers[0]
    return (
        f"{first.what} is NOT TESTED: {names} {first.source.version} could not be built; "
        f"see `python -m tools.peers {first.name}`"
    )


_VERSITYGW = Source(
    name="versitygw",
    module="github.com/versity/versitygw",
    version="v1.8.0",
    sum="h1:au+wI+aybno/STsQiSm35Uu6Q6iK5MWReQxgO6SEMFc=",
)
_DEX = Source(
    name="dex",
    module="github.com/dexidp/dex",
    version="v0.0.0-20260806151424-ab64ed778070",
    sum="h1:Zhb4XyHQ8935RToX2ZgxyfQcg8EE9gSnbk2Zi5PYf4E=",
)
_GITEA = Source(
    name="gitea",
    module="code.gitea.io/gitea",
    version="v1.25.5",
    sum="h1:OfdT1TrOmAA+AVeY8S9CVU1jJfXIk8teXfiBgDeHEUI=",
    ldflags=("-X main.Version=1.25.5",),
    folders=("options", "templates"),
)
_KUBERNETES = Source(
    name="kubernetes",
    module="k8s.io/kubernetes",
    version=f"v{_K8S}",
    sum="h1:Yy6R4QB8C9kJPp25GFqEvX5XQwY5qzKeqD0Xx6oAcmk=",
    # Without these it says v0.0.0-master, which its own clients do not understand.
    ldflags=(
        f"-X {_K8S_VERSION}.gitVersion=v{_K8S}",
        f"-X {_K8S_VERSION}.gitMajor={_K8S_MAJOR}",
        f"-X {_K8S_VERSION}.gitMinor={_K8S_MINOR}",
        f"-X {_K8S_VERSION}.gitTreeState=clean",
    ),
)
_ETCD = Source(
    name="etcd",
    module="go.etcd.io/etcd/server/v3",
    version="v3.6.8",
    sum="h1:U2strdSEy1U8qcSzRIdkYpvOPtBy/9i/IfaaCI9flZ4=",
)
_KWOK = Source(
    name="kwok",
    module="sigs.k8s.io/kwok",
    version="v0.7.0",
    sum="h1:+eGsNOIPapjsSzeZlOEcwbpyEVa2Vqlcafa0qIjaKV4=",
)
_HELM = Source(
    name="helm",
    module="helm.sh/helm/v3",
    version="v3.22.0",
    sum="h1:n1if5iQgHYsujPAcO5oonH/KiSNUmqmUF0iGVjSF3AU=",
    # What charts see as the cluster's version when they are rendered without one.
    ldflags=(
        "-X helm.sh/helm/v3/internal/version.version=v3.22.0",
        f"-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor={_K8S_MAJOR}",
        f"-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor={_K8S_MINOR}",
    ),
)
_KUSTOMIZE = Source(
    name="kustomize",
    module="sigs.k8s.io/kustomize/kustomize/v5",
    version="v5.8.1",
    sum="h1:Pgsg5psubpVEy7Nf6S89PARg5VmmWUC1l9dC6Dl4PG0=",
    ldflags=("-X sigs.k8s.io/kustomize/api/provenance.version=v5.8.1",),
)

_A_CLUSTER = "A real Kubernetes cluster"
#: What `make test-cluster` runs against: a cluster, and what renders manifests for it. The quickest build comes first,
#: and Kubernetes before the programs that share its packages.
CLUSTER = (
    Peer("kustomize", "kustomize itself", _KUSTOMIZE, "."),
    Peer("etcd", _A_CLUSTER, _ETCD, "."),
    Peer("kube-apiserver", _A_CLUSTER, _KUBERNETES, "./cmd/kube-apiserver"),
    Peer("kube-controller-manager", _A_CLUSTER, _KUBERNETES, "./cmd/kube-controller-manager"),
    Peer("kube-scheduler", _A_CLUSTER, _KUBERNETES, "./cmd/kube-scheduler"),
    Peer("kubectl", _A_CLUSTER, _KUBERNETES, "./cmd/kubectl"),
    Peer(KWOK_STAGES, _A_CLUSTER, _KWOK, ""),
    Peer("kwok", _A_CLUSTER, _KWOK, "./cmd/kwok"),
    Peer("helm", "Helm itself", _HELM, "./cmd/helm"),
)
#: What `make test-peers` runs against.
HEAVY = (
    Peer("versitygw", "A real S3 server", _VERSITYGW, "./cmd/versitygw"),
    Peer("dex", "A real OIDC provider", _DEX, "./cmd/dex"),
    Peer("gitea", "A real Git server", _GITEA, "."),
)
PEERS = (*CLUSTER, *HEAVY)


def find_peer(name: str) -> Peer:
    """The peer of that name."""
    return next(peer for peer in PEERS if peer.name == name)


def locate(name: str) -> Path:
    """Where the peer of that name is, or would be."""
    if (assets := os.environ.get("KUBEBUILDER_ASSETS")) and (given := Path(assets, name)).exists():
        return given
    return find_peer(name).binary
