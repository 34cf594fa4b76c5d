"""Compares the protocol with its golden descriptor, tests/golden/api/*.txt.

Every message, field, enum value and call is one line there. A line that is gone
or changed breaks clients that are out there, so it is an error, unless the
number was reserved. A new line is an error too, until --update records it.

Usage: check_api.py ROOT [--update]
"""

import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

FIELD = descriptor_pb2.FieldDescriptorProto


def read_files(root):
    protos = sorted((root / "proto").rglob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(
            ["protoc", f"-I{root / 'proto'}", f"--descriptor_set_out={out.name}"]
            + [str(proto) for proto in protos],
            check=True,
        )
        descriptors = descriptor_pb2.FileDescriptorSet()
        descriptors.ParseFromString(pathlib.Path(out.name).read_bytes())
    return descriptors.file


def field_line(scope, message, field):
    kind = FIELD.Type.Name(field.type)[5:].lower()
    if field.type_name:
        kind = field.type_name.lstrip(".")
    label = FIELD.Label.Name(field.label)[6:].lower()
    if field.proto3_optional:
        label = "presence"  # Whether it was set can be seen.
    elif field.HasField("oneof_index"):
        label = "oneof " + message.oneof_decl[field.oneof_index].name
    return f"{scope} {field.number}: {label} {kind} {field.name}"


def enum_lines(scope, enum):
    scope = f"{scope}.{enum.name}"
    yield f"{scope} enum"
    for value in enum.value:
        yield f"{scope} {value.number}: {value.name}"
    for span in enum.reserved_range:
        for number in range(span.start, span.end + 1):
            yield f"{scope} {number}: reserved"


def message_lines(scope, message):
    scope = f"{scope}.{message.name}"
    yield f"{scope} message"
    for field in message.field:
        yield field_line(scope, message, field)
    for span in message.reserved_range:
        for number in range(span.start, span.end):
            yield f"{scope} {number}: reserved"
    for nested in message.nested_type:
        yield from message_lines(scope, nested)
    for enum in message.enum_type:
        yield from enum_lines(scope, enum)


def file_lines(file):
    for message in file.message_type:
        yield from message_lines(file.package, message)
    for enum in file.enum_type:
        yield from enum_lines(file.package, enum)
    for service in file.service:
        for method in service.method:
            takes = ("stream " if method.client_streaming else "") + method.input_type
            gives = ("stream " if method.server_streaming else "") + method.output_type
            yield f"{file.package}.{service.name} {method.name}: {takes} -> {gives}"


def is_reserved(line, now):
    return line.partition(": ")[0] + ": reserved" in now


def main():
    root = pathlib.Path(sys.argv[1])
    update = sys.argv[2:] == ["--update"]
    golden_folder = root / "tests/golden/api"
    errors = []
    seen = set()
    for file in read_files(root):
        name = pathlib.PurePath(file.name).stem + ".txt"
        seen.add(name)
        path = golden_folder / name
        now = list(file_lines(file))
        before = path.read_text().splitlines() if path.exists() else []
        errors += [
            f"{name}: breaks clients: `{line}` is gone"
            for line in before
            if line not in now and not is_reserved(line, now)
        ]
        if update and not errors:
            path.write_text("".join(line + "\n" for line in now))
        elif not update and now != before and not errors:
            added = [line for line in now if line not in before] or ["the order"]
            errors.append(f"{name}: not recorded (see --update): {'; '.join(added)}")
    for path in golden_folder.glob("*.txt"):
        if path.name not in seen:
            errors.append(f"{path.name}: breaks clients: the file is gone")
    sys.exit("\n".join(errors) or 0)


if __name__ == "__main__":
    main()
