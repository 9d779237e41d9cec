#!/usr/bin/env python3
"""Checks the one-way ladder of the library over its #includes.

    base <- {data, loss, penalty, projection} <- risk <- problem <- kernel <- solver <- run <- registry <- model
         <- {cli, python}

A room includes itself and lower rooms, never a sibling on its own rung; data, loss and penalty may also use projection.

    check_ladder.py [ROOT]        exit 1 and one line FILE:LINE: reason for each include that climbs
"""

import re
import sys
from pathlib import Path

RUNGS = [
    {"base"},
    {"data", "loss", "penalty", "projection"},
    {"risk"},
    {"problem"},
    {"kernel"},
    {"solver"},
    {"run"},
    {"registry"},
    {"model"},
    {"cli", "python"},
]
HEIGHT = {room: height for height, rung in enumerate(RUNGS) for room in rung}
EXCEPTIONS = {(room, "projection") for room in ("data", "loss", "penalty")}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
SOURCES = {".hpp", ".cpp"}


def room_of(path):
    """The room of a path relative to the root, or None if it lies in none."""
    parts = Path(path).parts
    if parts[0] == "fenchel":
        return parts[1] if len(parts) > 2 else None
    return parts[0]


def allowed(room, target):
    return target == room or HEIGHT[target] < HEIGHT[room] or (room, target) in EXCEPTIONS


def included(root, file, line):
    """The path, relative to the root, of the project's own file that a line includes; None for every other line."""
    match = INCLUDE.match(line)
    if not match:
        return None
    quoted, angled = match.groups()
    if quoted and (file.parent / quoted).is_file():  # a neighbour named without its room
        return (file.parent / quoted).resolve().relative_to(root)
    path = Path(quoted or angled)
    return path if path.parts[0] in ("fenchel", "cli", "python") else None


def violations(root):
    root = Path(root).resolve()
    for top in ("fenchel", "cli", "python"):
        for file in sorted(path for path in (root / top).rglob("*") if path.suffix in SOURCES):
            name = file.relative_to(root)
            room = room_of(name)
            if room not in HEIGHT:
                yield f"{name}:1: this file lies in no room of the ladder"
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                path = included(root, file, line)
                if path is None:
                    continue
                target = room_of(path)
                if target not in HEIGHT:
                    yield f"{name}:{number}: {path} lies in no room of the ladder"
                elif not allowed(room, target):
                    yield f"{name}:{number}: {room} may not include {target} ({path})"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = list(violations(root))
    print("\n".join(found) if found else "ladder: every include goes down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
