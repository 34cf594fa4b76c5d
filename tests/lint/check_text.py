"""Fails on text that must not be in a source: unfinished work, `using
namespace`, tabs, blanks at the end of a line, a header without its own guard.

Usage: check_text.py ROOT
"""

import pathlib
import re
import sys

# The words are written so that this file does not find itself.
FORBIDDEN = [
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"), "unfinished work"),
    (re.compile(r"\bfor no" r"w\b"), "unfinished work"),
    (re.compile(r"^\s*using name" r"space\b"), "`using namespace`"),
    (re.compile(r"\t"), "a tab"),
    (re.compile(r"\s$"), "a blank at the end of the line"),
]
TOPS = ("core", "server", "client", "proto", "tests", "calibration")
SUFFIXES = {".h", ".cc", ".proto", ".py", ".def", ".cmake"}


def guard_of(path):
    return "LINNET_" + re.sub(r"[/.]", "_", path.as_posix()).upper() + "_"


def check_file(root, path):
    text = (root / path).read_text()
    errors = []
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, what in FORBIDDEN:
            if pattern.search(line):
                errors.append(f"{path}:{number}: {what}")
    if not text.endswith("\n"):
        errors.append(f"{path}: no line break at the end")
    if path.suffix == ".h" and f"#ifndef {guard_of(path)}\n" not in text:
        errors.append(f"{path}: the guard must be {guard_of(path)}")
    return errors


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted(
        path.relative_to(root)
        for top in TOPS
        for path in (root / top).rglob("*")
        if path.suffix in SUFFIXES
    )
    errors = [error for path in files for error in check_file(root, path)]
    sys.exit("\n".join(errors) or 0)


if __name__ == "__main__":
    main()
