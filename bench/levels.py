#!/usr/bin/env python3
"""Levels of smoothing by row: passes of accelerated gradients on the hinge with equal levels, with levels in proportion to the norms of the rows,
and with the choice of `auto`. Writes its section of docs/benchmarks.md and bench/results/levels.json; `levels.py render` writes the section
again from that file."""

import json
import sys
import time

import _common as common

RENDER = sys.argv[1:] == ["render"]
if not RENDER:
    common.require()
    import problems

# Features of svmguide1, german.numer and spambase are not scaled, hence the larger lambda.
LAMBDAS = {"a9a": 2.0**-14, "w8a": 2.0**-14, "rcv1-binary": 2.0**-14, "mushrooms": 2.0**-10, "splice": 2.0**-7, "svmguide1": 1.0,
           "german.numer": 0.1, "spambase": 4.0, "kddcup99-10pct": 2.0**-8}
SPACES = ("primal", "dual-smooth")
KINDS = ("equal", "norms", "auto")
TOLERANCE, CAP, PASSES = 1e-4, 60, 10000
RESULTS = common.RESULTS / "levels.json"


def train(data, bias, space, kind):
    done = problems.run(problems.CLI, "train", "--json", "--quiet", "--loss", "hinge", "--lambda", LAMBDAS[data], "--bias", bias, "--threads", 2 if data == "kddcup99-10pct" else 1,
                        "--tol", TOLERANCE, "--time-limit", CAP, "--max-passes", PASSES, "--solver", "agm-1", "--agm-space", space,
                        "--smoothing-weights", kind, problems.data_file(data), problems.scratch() / "model.fenchel")
    if done.code not in (0, 4):
        raise RuntimeError(done.stderr)
    report = json.loads(done.stdout)
    return {"data": data, "lambda": LAMBDAS[data], "bias": bias, "space": space, "kind": kind, "reached": report["status"] == "optimal",
            "passes": report["passes"], "relative_gap": report["relative_gap"]}


def told(entry):
    """Passes, or the relative gap where the fit ended."""
    return f"{entry['passes']:.0f}" if entry["reached"] else f"({entry['relative_gap']:.1e})"


def report(entries):
    rows = []
    for data in LAMBDAS:
        for bias in ("none", "free"):
            mine = {(e["space"], e["kind"]): e for e in entries if (e["data"], e["bias"]) == (data, bias)}
            if mine:
                rows.append([data, f"{LAMBDAS[data]:.2g}", bias, *(told(mine[space, kind]) for space in SPACES for kind in KINDS)])
    header = ["data", "λ", "bias", *(f"{space}: {kind}" for space in SPACES for kind in KINDS)]
    return f"""## Smoothing: levels by row

`bench/levels.py`: agm-1, hinge, passes over the data to a relative gap of {TOLERANCE:g} at levels that fall, with what it takes to find levels by row; in
brackets the relative gap after {PASSES} passes or {CAP} seconds (one thread; two for kddcup99-10pct, and the same passes with any number). *Norms* are s_i ∝ ‖x_i‖ (‖x_i − mean‖ with a free bias), *auto* is the default:
norms where bounds say that they lower Γ ([solvers.md](solvers.md)). Where all norms are alike (a9a, rcv1-binary, mushrooms, splice) norms change little, and
`auto` spends at most five passes to know. Where they differ, theory promises the dual a share of passes down to √(Γ(s)/Γ(1)), and it gets a part of that: nothing on kddcup99-10pct, where
`auto` is right to leave it, little on svmguide1 and german.numer, more on w8a (an eighth to a quarter) and spambase (a quarter and more). In the primal the curvature that is searched is that of the rows near their kink, which wider
levels make more of; some gain and some lose, unless norms differ a lot (spambase), so there `auto` asks for Γ to be halved.

{common.table(header, rows)}
"""


def main():
    if RENDER:
        entries = json.loads(RESULTS.read_text())
    else:
        begin, entries = time.perf_counter(), []
        for data in LAMBDAS:
            entries += [train(data, bias, space, kind) for bias in ("none", "free") for space in SPACES for kind in KINDS]
            print(f"{data}: done after {time.perf_counter() - begin:.0f} s", flush=True)
        common.write_json(RESULTS, entries)
    text = report(entries)
    print(text)
    common.write_section("levels", text)


if __name__ == "__main__":
    main()
