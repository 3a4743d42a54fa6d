"""Turn proto/ into the Python under src/fairway/rpc/gen, the same bytes each time.

`make proto` writes the files; `python -m tools.generate_proto --check` only says what differs, and a contract
test does the same, so that nobody edits one side alone. protoc mounts proto/ as fairway/rpc/gen: the
generated imports are then right as they come, and no text is rewritten. protoc has no typed stubs for its
gRPC modules; `service_stubs` adds them, asyncio only, so that mypy checks every servicer and every call.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto
from grpc_tools import protoc  # type: ignore[import-untyped]  # grpcio-tools ships no types

ROOT = Path(__file__).resolve().parent.parent
PROTO_DIR = ROOT / "proto"
GEN_DIR = ROOT / "src/fairway/rpc/gen"
MOUNT = PurePosixPath("fairway/rpc/gen")

PACKAGE_DOCSTRING = '"""Generated from proto/ by tools/generate_proto.py; edit that and run `make proto`."""\n'


def generated_files() -> dict[str, str]:
    """What src/fairway/rpc/gen should hold: text by relative path."""
    sources = sorted(str(MOUNT / p.relative_to(PROTO_DIR).as_posix()) for p in PROTO_DIR.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        descriptors = Path(scratch, "descriptors.bin")
        outputs = [f"--{kind}_out={scratch}" for kind in ("python", "pyi", "grpc_python")]
        mount = f"--proto_path={MOUNT}={PROTO_DIR}"
        status = protoc.main(["protoc", mount, *outputs, f"--descriptor_set_out={descriptors}", *sources])
        if status != 0:
            raise SystemExit("protoc refused the files in proto/; its messages are above")
        code = Path(scratch) / MOUNT
        files = {p.relative_to(code).as_posix(): p.read_text("utf-8") for p in code.rglob("*.py*")}
        described = FileDescriptorSet.FromString(descriptors.read_bytes())
    files = {name: text for name, text in files.items() if not _serves_nothing(name, described)}
    files |= {_gen_path(f, "_pb2_grpc.pyi"): service_stubs(f) for f in described.file if f.service}
    folders = {parent for name in files for parent in PurePosixPath(name).parents}
    files |= {(folder / "__init__.py").as_posix(): PACKAGE_DOCSTRING for folder in folders}
    return dict(sorted(files.items()))


def service_stubs(file: FileDescriptorProto) -> str:
    """Types of one `_pb2_grpc` module: client stub, servicer base class and registration of each service."""
    module = PurePosixPath(file.name).with_suffix("").as_posix().replace("/", ".") + "_pb2"
    package, _, name = module.rpartition(".")
    lines = ["from collections.abc import AsyncIterator", "", "from grpc import aio", ""]
    lines += [f"from {package} import {name} as pb", ""]
    for service in file.service:
        calls = [_call_types(method, file.package) for method in service.method]
        lines += [f"class {service.name}Stub:", "    def __init__(self, channel: aio.Channel) -> None: ..."]
        lines += [f"    {method.name}: {stub}" for method, (stub, _) in zip(service.method, calls, strict=True)]
        lines += ["", f"class {service.name}Servicer:"]
        lines += [f"    {servicer}" for _, servicer in calls]
        lines += ["", f"def add_{service.name}Servicer_to_server("]
        lines += [f"    servicer: {service.name}Servicer, server: aio.Server", ") -> None: ...", ""]
    return "\n".join(lines)


def differences(expected: Mapping[str, str], folder: Path) -> list[str]:
    """One sentence for each file of `folder` that is not as expected."""
    present = {p.relative_to(folder).as_posix(): p.read_text("utf-8") for p in _code_files(folder)}
    return sorted(
        [f"{name} is missing" for name in expected.keys() - present.keys()]
        + [f"{name} has no .proto file" for name in present.keys() - expected.keys()]
        + [f"{name} is out of date" for name in expected.keys() & present.keys() if expected[name] != present[name]]
    )


def write(files: Mapping[str, str], folder: Path) -> None:
    """Make `folder` hold these files and no other code."""
    for stale in {p.relative_to(folder).as_posix() for p in _code_files(folder)} - files.keys():
        (folder / stale).unlink()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _call_types(method: MethodDescriptorProto, package: str) -> tuple[str, str]:
    """How one method is typed in the stub class and in the servicer class."""
    request, response = (f"pb.{t.removeprefix(f'.{package}.')}" for t in (method.input_type, method.output_type))
    context = f"context: aio.ServicerContext[{request}, {response}]"
    if method.server_streaming:
        return (
            f"aio.UnaryStreamMultiCallable[{request}, {response}]",
            f"def {method.name}(self, request: {request}, {context}) -> AsyncIterator[{response}]: ...",
        )
    return (
        f"aio.UnaryUnaryMultiCallable[{request}, {response}]",
        f"async def {method.name}(self, request: {request}, {context}) -> {response}: ...",
    )


def _serves_nothing(name: str, described: FileDescriptorSet) -> bool:
    """protoc writes an empty gRPC module for files without a service; nobody imports those."""
    return name.endswith("_pb2_grpc.py") and not any(
        f.service and _gen_path(f, "_pb2_grpc.py") == name for f in described.file
    )


def _gen_path(file: FileDescriptorProto, suffix: str) -> str:
    return PurePosixPath(file.name).with_suffix("").relative_to(MOUNT).as_posix() + suffix


def _code_files(folder: Path) -> Iterator[Path]:
    return (p for p in folder.rglob("*.py*") if "__pycache__" not in p.parts)


def main(arguments: list[str]) -> int:
    """Write the generated code, or with --check only say what differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.generate_proto", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when something differs")
    only_check = parser.parse_args(arguments).check
    files = generated_files()
    if only_check:
        found = differences(files, GEN_DIR)
        print("\n".join(found) or "the generated code is what proto/ says")
        return 1 if found else 0
    write(files, GEN_DIR)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
