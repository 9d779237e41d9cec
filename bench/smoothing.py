#!/usr/bin/env python3
"""Accelerated gradients on the hinge with a free bias: passes over the data to a relative gap of 1e-4 with a level of smoothing that falls
from stage to stage, against fixed levels, that of the theory and the best of a grid in hindsight. Writes its section of docs/benchmarks.md
and bench/results/smoothing.json."""

import argparse
import json
import sys
import time

import _common as common

common.require()
import problems  # noqa: E402  (after the check that there are data)

SETS = ("a9a", "rcv1-binary", "imdb-tfidf", "20news-bigram", "w8a")
LAMBDAS = {"a9a": 2.0**-14, "rcv1-binary": 2.0**-14, "imdb-tfidf": 2.0**-14, "20news-bigram": 2.0**-14, "w8a": 2.0**-14}
GRID = (1e-2, 1e-3, 1e-4)
TOLERANCE = 1e-4
METHODS = (("agm-1", "primal"), ("agm-1", "dual-smooth"), ("agm-inf", "dual-smooth"))


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    parser.add_argument("--cap", type=int, default=120, help="seconds a fit (default 120)")
    parser.add_argument("--passes", type=int, default=10000, help="a fit (default 10000)")
    parser.add_argument("--write", action="store_true", help="write the document although it is not the whole benchmark")
    options = parser.parse_args()
    options.whole = len(sys.argv) == 1
    return options


def train(data, lam, options, *more):
    done = problems.run(problems.CLI, "train", "--json", "--quiet", "--loss", "hinge", "--lambda", lam, "--bias", "free",
                        "--threads", 2, "--tol", TOLERANCE, "--time-limit", options.cap, "--max-passes", options.passes,
                        *more, problems.data_file(data), problems.scratch() / "model.fenchel")
    if done.code not in (0, 4):
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def measure(data, options):
    """One entry a method and level: annealed, the theory's, and a grid."""
    lam = LAMBDAS[data]
    reference = train(data, lam, options, "--solver", "sdca")
    # Half of the gap for the smoothing, whose bound is mu/2 for the hinge: mu = eps.
    theory = TOLERANCE * reference["primal"]
    entries = []
    for solver, space in METHODS:
        for kind, level in (("falling", None), ("theory", theory), *(("grid", mu) for mu in GRID)):
            extra = [] if level is None else ["--smoothing", level]
            report = train(data, lam, options, "--solver", solver, "--agm-space", space, *extra)
            entries.append({"data": data, "lambda": lam, "solver": solver, "space": space, "kind": kind, "level": level,
                            "reached": report["status"] == "optimal", "passes": report["passes"],
                            "relative_gap": report["relative_gap"], "seconds": report["seconds"]["solve"],
                            "primal": report["primal"], "gap": report["gap"]})
            difference = abs(report["primal"] - reference["primal"])
            if difference > report["gap"] + reference["gap"]:
                raise RuntimeError(f"{data} {solver}: disagrees with sdca by {difference}")
    for curvature in ("search", "bound"):
        report = train(data, lam, options, "--solver", "pragam", "--curvature", curvature)
        entries.append({"data": data, "lambda": lam, "solver": "pragam", "space": curvature, "kind": "falling", "level": None,
                        "reached": report["status"] == "optimal", "passes": report["passes"],
                        "relative_gap": report["relative_gap"], "seconds": report["seconds"]["solve"],
                        "primal": report["primal"], "gap": report["gap"]})
    return entries


def told(entry):
    """Passes, or the relative gap where the fit ended."""
    return f"{entry['passes']:.0f}" if entry["reached"] else f"({entry['relative_gap']:.1e})"


def rows_of(entries):
    rows, wins, sets = [], 0, sorted({e["data"] for e in entries}, key=list(SETS).index)
    for data in sets:
        beaten = False
        for solver, space in METHODS:
            mine = [e for e in entries if (e["data"], e["solver"], e["space"]) == (data, solver, space)]
            falling, theory = (next(e for e in mine if e["kind"] == kind) for kind in ("falling", "theory"))
            grid = [e for e in mine if e["kind"] == "grid"]
            best = min(grid, key=lambda e: (not e["reached"], e["passes"] if e["reached"] else e["relative_gap"]))
            beaten |= falling["reached"] and (not theory["reached"] or falling["passes"] < theory["passes"])
            rows.append([data, solver, space, told(falling), told(theory), f"{theory['level']:.1e}", told(best), best["level"]])
        wins += beaten
    return rows, wins, len(sets)


def report(entries, seconds):
    rows, wins, count = rows_of(entries)
    pragam = [[e["data"], e["space"], told(e)] for e in entries if e["solver"] == "pragam"]
    return f"""## Smoothing: levels that fall against fixed ones

`{common.command()}` on: {common.machine()}.
Hinge, free bias, λ = 2⁻¹⁴, relative gap {TOLERANCE:g}, passes over the data with certificates; in brackets the relative gap where a fit ended without
reaching it. *Falling* is the default, from the mean loss down, a tenth a stage. The level of the *theory*, μ = ε/(2D), leaves half of the gap ε to the
smoothing. *Best* is the best of μ = {', '.join(f'{mu:g}' for mu in GRID)} in hindsight. Falling levels beat the theory's level on {wins} of {count} sets.
All answers agree with that of sdca within the sum of the gaps. It took {seconds:.0f} seconds.

{common.table(["data", "solver", "space", "falling", "theory", "its μ", "best", "its μ"], rows)}

Pragam needs no level; its curvature is searched (the default) or bounded.

{common.table(["data", "curvature", "passes"], pragam)}
"""


def main():
    options = parse()
    begin = time.perf_counter()
    entries = []
    for data in options.sets:
        entries += measure(data, options)
        print(f"{data}: done after {time.perf_counter() - begin:.0f} s", flush=True)
    text = report(entries, time.perf_counter() - begin)
    print(text)
    if options.whole or options.write:
        common.write_json(common.RESULTS / "smoothing.json", entries)
        common.write_section("smoothing", text)


if __name__ == "__main__":
    main()
