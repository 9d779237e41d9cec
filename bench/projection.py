#!/usr/bin/env python3
"""How the time of every projection grows with its size, from 10^3 to 10^7 entries, beside one pass that reads the same
inputs and writes the result. Needs no data. Writes its section of docs/benchmarks.md."""

import json
import os
import subprocess
import time
from pathlib import Path

import _common as common

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
THREADS, ROUNDS, REPEATS = 2, 5, 2
GOAL = 12.0  # passes for box and hyperplane at the largest size
PROBE = Path(os.environ.get("FENCHEL_CLI", "")).parent / "projection_probe"


def measure():
    """{projection: {size: the least of each number}} over several processes."""
    best = {}
    sizes = ",".join(f"{size:g}" for size in SIZES)
    for _ in range(REPEATS):
        command = [PROBE, "--sizes", sizes, "--threads", str(THREADS), "--rounds", str(ROUNDS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for run in map(json.loads, done.stdout.splitlines()):
            known = best.setdefault(run["projection"], {}).setdefault(run["size"], run)
            for key in ("seconds", "pass_seconds"):
                known[key] = min(known[key], run[key])
    return best


def document(best, took):
    largest = SIZES[-1]
    growth = [[name, *(runs[size]["seconds"] / size * 1e9 for size in SIZES)] for name, runs in best.items()]
    passes = [[name, *(runs[size]["seconds"] / runs[size]["pass_seconds"] for size in SIZES)]
              for name, runs in best.items()]
    verdicts = []
    for name, runs in best.items():
        if name.startswith("box"):
            ratio = runs[largest]["seconds"] / runs[largest]["pass_seconds"]
            verdicts.append(f"{name}: {ratio:.1f} ({'met' if ratio <= GOAL else 'missed'})")
    powers = [f"10^{len(str(size)) - 1}" for size in SIZES]
    return f"""## Projections

{common.machine()}. {THREADS} threads, random points; the least of {REPEATS} processes of {ROUNDS} rounds each, {took:.0f} seconds together.
A pass reads all inputs of the projection and writes its result, with the same threads, in turns with it.

Goal: box and hyperplane at 10^7 entries in at most {GOAL:.0f} passes. {'; '.join(verdicts)}.

### Nanoseconds an entry

{common.table(["projection", *powers], growth)}

### In passes over inputs and result

Small sizes are in the caches, where a pass costs next to nothing.

{common.table(["projection", *powers], passes)}
"""


def main():
    if not PROBE.exists():
        print("nothing measured: FENCHEL_CLI does not name an executable with projection_probe beside it")
        return
    begin = time.monotonic()
    best = measure()
    common.write_section("projection", document(best, time.monotonic() - begin))


if __name__ == "__main__":
    main()
