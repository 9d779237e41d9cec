#!/usr/bin/env python3
"""The comparison of Saha, Zhang and Vishwanathan, "Lower Bounds for BMRM and Faster Rates for Training SVMs": hinge with an l2
penalty, pragam with and without a bias against bmrm, bmrm-ls, pegasos and sdca, primal error against iterations and seconds.
Writes its section of docs/benchmarks.md and bench/results/pragam.{json,svg} and pragam-seconds.svg."""

import argparse
import json
import sys
import time

import _common as common

common.require()
import _plot as plot  # noqa: E402  (after the check that there are data)
import problems  # noqa: E402

SETS = ("a9a", "rcv1-binary", "imdb-tfidf", "20news-bigram", "w8a")
EXPONENTS = (14, 15, 16, 17, 18, 19)  # of lambda = 2^-k
# What is compared: a label, the solver, the bias.
METHODS = (("pragam", "pragam", "none"), ("pragam, bias", "pragam", "free"), ("bmrm", "bmrm", "none"),
           ("bmrm-ls", "bmrm-ls", "none"), ("pegasos", "pegasos", "none"), ("sdca", "sdca", "none"))
PRICE = 2  # passes that a certificate takes, and that are no work of the method
ITERATION = {"bmrm": 2, "bmrm-ls": 2, "pragam": 3}  # passes; the others go through the rows once
LEVELS = (1e-2, 1e-3)


def numbers(text):
    return [int(word) for word in text.split(",")]


def names(text):
    return text.split(",")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=names, default=list(SETS))
    parser.add_argument("--exponents", type=numbers, default=list(EXPONENTS), help="k of lambda = 2^-k")
    parser.add_argument("--solvers", type=names, help="only these")
    parser.add_argument("--cap", type=float, default=10, help="seconds a fit (default 10)")
    parser.add_argument("--reference", type=float, default=20, help="seconds for the best certified optimum (default 20)")
    parser.add_argument("--tol", type=float, default=1e-5, help="relative gap at which a fit may stop (default 1e-5)")
    parser.add_argument("--write", action="store_true", help="write the document although it is not the whole benchmark")
    options = parser.parse_args()
    options.whole = len(sys.argv) == 1
    options.methods = [m for m in METHODS if not options.solvers or m[1] in options.solvers]
    return options


def train(data, exponent, solver, bias, *more):
    return problems.run(problems.CLI, "train", "--json", "--quiet", "--loss", "hinge", "--lambda", 2.0**-exponent,
                        "--bias", bias, "--threads", 2, "--solver", solver, "--max-passes", 10000000, *more,
                        data, problems.scratch() / "model.fenchel")


def curve(data, exponent, solver, bias, options):
    """[(iterations, seconds, primal objective), ...], or why there is none. A trace certifies often: passes for that are taken
    off, seconds are not."""
    trace = problems.scratch() / "trace.jsonl"
    trace.unlink(missing_ok=True)
    done = train(data, exponent, solver, bias, "--tol", options.tol, "--time-limit", options.cap, "--trace", trace)
    if done.code == 2:
        return None, done.stderr.strip().splitlines()[-1], None
    if done.code not in (0, 4):
        raise RuntimeError(done.stderr)
    points = [((line["passes"] - PRICE * (k + 1)) / ITERATION.get(solver, 1), line["seconds"], line["primal"])
              for k, line in enumerate(map(json.loads, trace.read_text().splitlines()))]
    return points, None, done.json


def reference(data, exponent, bias, options):
    """The largest certified lower bound on the optimum and the least objective."""
    done = train(data, exponent, "auto", bias, "--tol", 1e-8, "--time-limit", options.reference)
    if done.code not in (0, 4):
        raise RuntimeError(done.stderr)
    return done.json["primal"], done.json["dual"]


def first(points, column, dual, level):
    """Where the primal error is at most `level` for the first time; errors are relative, and upper bounds."""
    return next((point[column] for point in points or () if point[2] / dual - 1 <= level), None)


def measure(name, exponent, options, begin):
    data, result = problems.data_file(name), {"data": name, "exponent": exponent, "curves": {}, "missing": {}}
    runs = {}
    for label, solver, bias in options.methods:
        points, reason, report = curve(data, exponent, solver, bias, options)
        if reason:
            result["missing"][label] = reason
        else:
            runs[label] = (bias, points, report)
    bounds = {bias: reference(data, exponent, bias, options) for bias in sorted({bias for bias, _, _ in runs.values()})}
    for bias, _, report in runs.values():
        primal, dual = bounds[bias]
        bounds[bias] = min(primal, report["primal"]), max(dual, report["dual"])
    result["optimum"] = bounds
    result["levels"] = {}
    for label, (bias, points, _) in runs.items():
        dual = bounds[bias][1]
        result["curves"][label] = [(iterations, seconds, primal / dual - 1) for iterations, seconds, primal in points]
        result["levels"][label] = [[first(points, column, dual, level) for column in (0, 1)] for level in LEVELS]
    print(f"{time.monotonic() - begin:6.0f} s  {name} 2^-{exponent}: {result['levels']}", flush=True)
    return result


def cell(result, label):
    if label in result["missing"]:
        return "not in this version"
    parts = []
    for iterations, seconds in result["levels"][label]:
        parts.append("–" if iterations is None else f"{iterations:.0f} ({common.number(seconds)} s)")
    return " / ".join(parts)


def document(results, options, took):
    labels = [label for label, _, _ in options.methods]
    rows = [[result["data"], f"2^-{result['exponent']}",
             " / ".join(f"{primal / dual - 1:.0e}" for primal, dual in result["optimum"].values()),
             *(cell(result, label) for label in labels)] for result in results]
    return f"""
## Pragam, bundle methods and baselines on support vector machines

`{common.command()}` on: {common.machine()}.
One run of {took:.0f} seconds. The comparison of "Lower Bounds for BMRM and Faster Rates for Training SVMs": hinge, l2 penalty,
no bias but where it is named, 2 threads, at most {options.cap:g} s a fit. Iterations, and seconds, until the primal objective is within
{' and '.join(f'{level:g}' for level in LEVELS)} of the optimum, relative, from `--trace`; –: not in this time. Errors are against the best certified lower
bound, so that they are at most as large as said; *gap* is what is left between that bound and the best objective (without, with
bias). An iteration is a pass over the rows for pegasos and sdca, two products with the data for bmrm and bmrm-ls,
three or more for pragam. Certificates, up to a tenth of the passes apart, are taken off the iterations and are part of the seconds.
Curves: `bench/results/pragam.svg` (iterations), `bench/results/pragam-seconds.svg`.

{common.table(["data", "λ", "gap", *labels], rows)}
"""


def picture(results, options, column, label):
    plots = [{"title": f"{result['data']}, λ = 2^-{result['exponent']}",
              "lines": {name: [(point[column], point[2]) for point in points]
                        for name, points in result["curves"].items()}} for result in results]
    return plot.svg(plots, len(options.exponents), label, "relative primal error, at most")


def main():
    options, begin = parse(), time.monotonic()
    results = [measure(name, exponent, options, begin) for name in options.sets if problems.data_file(name)
               for exponent in options.exponents]
    by_iterations = picture(results, options, 0, "iterations")
    by_seconds = picture(results, options, 1, "seconds")
    text = document(results, options, time.monotonic() - begin)
    if not (options.whole or options.write):
        common.write_result(problems.scratch().parent / "pragam-part.svg", by_iterations)
        print(text)
        return
    for result in results:  # enough digits for a plot
        result["curves"] = {name: [[round(x, 2), round(s, 4), float(f"{error:.6g}")] for x, s, error in points]
                            for name, points in result["curves"].items()}
    common.write_json(common.RESULTS / "pragam.json", results)
    common.write_result(common.RESULTS / "pragam.svg", by_iterations)
    common.write_result(common.RESULTS / "pragam-seconds.svg", by_seconds)
    common.write_section("pragam", text)


main()
