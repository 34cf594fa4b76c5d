"""Fails if a file includes a folder that layers.txt does not allow it.

Usage: check_layers.py ROOT
"""

import pathlib
import re
import sys

TOPS = ("core", "server", "client", "calibration")
SUFFIXES = {".h", ".cc", ".cuh", ".cu"}


def read_layers(path):
    """Returns folder -> the folders it may include, itself among them."""
    allowed = {}
    for line in path.read_text().splitlines():
        folder, colon, names = line.partition("#")[0].partition(":")
        if not colon:
            continue
        unknown = set(names.split()) - set(allowed)  # Rules out cycles too.
        if unknown:
            sys.exit(f"layers.txt: {folder} uses {unknown}, not yet listed")
        if folder in allowed:
            sys.exit(f"layers.txt: {folder} is listed twice")
        allowed[folder] = {folder, *names.split()}
    return allowed


def check_file(root, path, allowed):
    folder = path.parent.as_posix()
    if folder not in allowed:
        return [f"{path}: {folder} is not in layers.txt"]
    errors = []
    for number, line in enumerate((root / path).read_text().splitlines(), 1):
        included = re.match(r'\s*#\s*include [<"](.+)/', line)
        if not included:
            continue
        place = f"{included[1]}/"
        if place.startswith("tests/"):
            errors.append(f"{path}:{number}: nothing may include tests")
            continue
        matches = [name for name in allowed if place.startswith(f"{name}/")]
        target = max(matches, key=len, default=folder)
        if target not in allowed[folder]:
            errors.append(f"{path}:{number}: {folder} must not include {target}")
        elif not matches and place.split("/")[0] in TOPS:
            errors.append(f"{path}:{number}: {place} is not in layers.txt")
    return errors


def main():
    root = pathlib.Path(sys.argv[1])
    allowed = read_layers(root / "tests/lint/layers.txt")
    files = sorted(
        path.relative_to(root)
        for top in TOPS
        for path in (root / top).rglob("*")
        if path.suffix in SUFFIXES
    )
    if not files:
        sys.exit(f"no sources below {root}")
    errors = [error for path in files for error in check_file(root, path, allowed)]
    sys.exit("\n".join(errors) or 0)


if __name__ == "__main__":
    main()
