#!/usr/bin/env python3
"""Time to a distance from the optimum, next to LIBLINEAR and scikit-learn on the same objectives: solving alone, whole
processes, multiclass losses, the share of certificates, peak memory. Writes its section of docs/benchmarks.md and
bench/results/sdca.{json,svg}. `--quick` and the other options are for development: with them the document stays as it is,
unless --write asks for it."""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict

import _common as common

common.require()
import _plot as plot  # noqa: E402  (after the check that there are data)
import _sdca_measure as measure  # noqa: E402
import _sdca_multiclass as multiclass  # noqa: E402
import _sdca_report as report  # noqa: E402
import peers  # noqa: E402
import problems  # noqa: E402

SETS = ("rcv1-binary", "imdb-tfidf", "20news-bigram", "a9a", "kddcup99-10pct", "w8a")
LOSSES = ("hinge", "squared-hinge", "logistic")
COSTS = (0.1, 1.0, 10.0)
SOLVERS = ("auto", "sdca", "newton")
PROCESS_SETS = ("rcv1-binary", "imdb-tfidf", "20news-bigram", "kddcup99-10pct")


def parse():
    def names(text):
        return text.split(",")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two small sets, C = 1, no scikit-learn, no multiclass")
    parser.add_argument("--sets", type=names, help="A,B,... of " + ",".join(SETS))
    parser.add_argument("--losses", type=names, help="A,B,... of " + ",".join(LOSSES))
    parser.add_argument("--C", dest="costs", type=lambda text: [float(x) for x in names(text)])
    parser.add_argument("--solvers", type=names, default=SOLVERS, help="ours; the first one's times are in the ratios")
    parser.add_argument("--cap", type=int, help="seconds a fit (default 20)")
    parser.add_argument("--multiclass-cap", type=int, help="the same for multiclass losses, which take longer (default: that of --cap)")
    parser.add_argument("--reference", type=float, help="seconds for the optimum, a solver (default 60)")
    parser.add_argument("--rounds", type=int, help="times that short fits are measured (default 3)")
    parser.add_argument("--sklearn", choices=("all", "some", "multiclass", "none"), default="all",
                        help="where it takes part: some is C = 1, and multiclass losses (default all)")
    parser.add_argument("--no-process", dest="process", action="store_false")
    parser.add_argument("--no-multiclass", dest="multiclass", action="store_false")
    parser.add_argument("--only-multiclass", action="store_true", help="nothing but that, as a table of its own, which --no-multiclass keeps")
    parser.add_argument("--write", action="store_true", help="write the document although it is not the whole benchmark")
    options = parser.parse_args()
    options.whole = len(sys.argv) == 1
    if options.quick:
        options.sklearn, options.multiclass = "none", False
    for name, whole, quick in (("cap", 20, 10), ("reference", 60, 10), ("rounds", 3, 2)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else whole)
    options.multiclass_cap = options.multiclass_cap or options.cap
    options.sets = options.sets or (("rcv1-binary", "a9a") if options.quick else SETS)
    options.losses = options.losses or LOSSES
    options.costs = options.costs or ((1.0,) if options.quick else COSTS)
    return options


# --- whole processes ---

def seconds_of(command):
    begin = time.perf_counter()
    done = subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: exit code {done.returncode}")
    return time.perf_counter() - begin


def measure_process(case, ours):
    """Read text, fit, write the model: both programs at the loosest setting with which they reach 1e-3."""
    level = measure.LEVELS[0]
    mine, theirs = case.easiest([ours], level), case.easiest(case.named("LIBLINEAR"), level)
    if mine is None or theirs is None:
        who = "ours" if mine is None else "LIBLINEAR"
        return {"case": case.key, "missing": "open" if case.open(level) else f"not reached by {who}"}
    data, models = problems.data_file(case.data), [problems.scratch() / name for name in ("ours.fenchel", "theirs.model")]
    solver = theirs[1].split()[-1]
    commands = [[measure.CLI, "train", "--quiet", "--loss", case.loss, "--C", case.cost, "--bias", "none", "--threads", 2,
                 "--solver", ours.split()[1], "--tol", mine[2].setting, data, models[0]],
                ["liblinear-train", "-q", "-s", solver, "-c", case.cost, "-e", theirs[2].setting, data, models[1]]]
    times = [min(column) for column in zip(*(map(seconds_of, commands) for _ in range(5)))]
    weights = [problems.exported_weights(models[0])[0], peers.read_liblinear(models[1])]
    distances = [measure.objective(measure.load(case.data), case.loss, case.lam, w) / case.optimum["value"] - 1
                 for w in weights]
    return {"case": case.key, "ours": times[0], "tol": mine[2].setting, "liblinear": times[1], "solver": solver,
            "eps": theirs[2].setting, "distances": distances}


# --- everything ---

def progress(case, ours, begin):
    ratios = []
    for level in measure.LEVELS:
        mine, theirs = case.fastest([ours], level), case.fastest(case.named("LIBLINEAR"), level)
        ratios.append(common.number(theirs[0] / mine[0]) if mine and theirs else "-")
    print(f"{time.monotonic() - begin:6.0f} s  {case.key}: LIBLINEAR / ours at {measure.LEVELS}: {', '.join(ratios)}",
          flush=True)


def curves(cases):
    """Time against distance, one panel a case: the points of each tool that nothing of its own beats."""
    plots = []
    for case in cases:
        lines = {}
        for tool, runs in case.tools.items():
            best, line = float("inf"), []
            for run in sorted(runs, key=lambda run: run.seconds):
                distance = max(case.distance(run), 1e-10)
                if distance < best:
                    best = distance
                    line.append((run.seconds, distance))
            lines[tool] = line
        plots.append({"title": case.key, "lines": lines})
    return plot.svg(plots, 3, "seconds of solving", "relative distance from the optimum")


def recorded_multiclass():
    """The numbers of the last run of nothing but that, where there has been one; a run of everything is none."""
    path = common.RESULTS / "sdca.json"
    rows = json.loads(path.read_text()).get("multiclass", {}) if path.exists() else {}
    return rows if "own_run" in rows else {}


def measure_only_multiclass(options, begin):
    """Writes that part alone again, and says so, where the rest is another run's."""
    rows = multiclass.measure_all(options)
    rows["own_run"] = {"seconds": time.monotonic() - begin, "cap": options.multiclass_cap}
    text = report.multiclass_text(rows)
    if not options.write:
        return print(text)
    path = common.RESULTS / "sdca.json"
    common.write_json(path, json.loads(path.read_text()) | {"multiclass": rows})
    common.replace_part(report.MULTICLASS, text)


def main():
    options, begin = parse(), time.monotonic()
    if options.only_multiclass:
        return measure_only_multiclass(options, begin)
    ours = f"fenchel {options.solvers[0]}"
    cases, processes = [], []
    for data in options.sets:
        if problems.data_file(data) is None:
            print(f"{data} is not there")
            continue
        for loss in options.losses:
            for cost in options.costs:
                case = measure.measure_case(data, loss, cost, options)
                cases.append(case)
                progress(case, ours, begin)
                if options.process and data in PROCESS_SETS:
                    processes.append(measure_process(case, ours))
    rows = multiclass.measure_all(options) if options.multiclass else recorded_multiclass()
    took = time.monotonic() - begin
    text = report.document(cases, processes, rows, ours, options, took)
    raw = {"machine": common.machine(), "seconds": took, "cases": [asdict(case) for case in cases], "processes": processes,
           "multiclass": rows}
    if options.whole or options.write:
        common.write_json(common.RESULTS / "sdca.json", raw)
        common.write_result(common.RESULTS / "sdca.svg", curves(cases))
        common.write_section("sdca", text)
    else:
        common.write_json(problems.scratch().parent / "sdca-part.json", raw)
        common.write_result(problems.scratch().parent / "sdca-part.svg", curves(cases))
        print(text)


main()
