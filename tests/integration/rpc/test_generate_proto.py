"""What the generator finds in a folder of generated code, and what it leaves there."""

from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tools.generate_proto import differences, service_stubs, write

FILES = {"__init__.py": "", "model/app_pb2.py": "A = 1\n", "model/app_pb2.pyi": "A: int\n"}


def test_what_was_written_does_not_differ(tmp_path: Path) -> None:
    write(FILES, tmp_path)

    assert differences(FILES, tmp_path) == []


def test_missing_edited_and_left_over_files_are_named(tmp_path: Path) -> None:
    write(FILES, tmp_path)
    (tmp_path / "__init__.py").unlink()
    (tmp_path / "model/app_pb2.py").write_text("A = 2\n")
    (tmp_path / "model/old_pb2.py").write_text("")

    assert differences(FILES, tmp_path) == [
        "__init__.py is missing",
        "model/app_pb2.py is out of date",
        "model/old_pb2.py has no .proto file",
    ]


def test_code_of_a_removed_proto_is_removed_too(tmp_path: Path) -> None:
    write({**FILES, "model/old_pb2.py": ""}, tmp_path)

    write(FILES, tmp_path)

    assert differences(FILES, tmp_path) == []


def test_a_unary_and_a_streaming_method_are_typed() -> None:
    file = FileDescriptorProto(name="fairway/rpc/gen/x/y.proto", package="p.q")
    service = file.service.add(name="Service")
    service.method.add(name="Get", input_type=".p.q.In", output_type=".p.q.Out")
    service.method.add(name="Watch", input_type=".p.q.In", output_type=".p.q.Out", server_streaming=True)

    stubs = service_stubs(file).splitlines()

    assert "from fairway.rpc.gen.x import y_pb2 as pb" in stubs
    assert [line.strip() for line in stubs if "Get" in line or "Watch" in line] == [
        "Get: aio.UnaryUnaryMultiCallable[pb.In, pb.Out]",
        "Watch: aio.UnaryStreamMultiCallable[pb.In, pb.Out]",
        "async def Get(self, request: pb.In, context: aio.ServicerContext[pb.In, pb.Out]) -> pb.Out: ...",
        "def Watch(self, request: pb.In, context: aio.ServicerContext[pb.In, pb.Out]) -> AsyncIterator[pb.Out]: ...",
    ]
