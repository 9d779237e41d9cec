"""The measurements of bench/sdca.py: the tools run on one problem after the other, and every objective is computed here,
in float64 with numpy, from the weights that a tool gave."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import _common as common

common.require()
import numpy as np  # noqa: E402
import problems  # noqa: E402  (after the check that there are data)
import _sklearn  # noqa: E402
from _objective import Data, objective  # noqa: E402
from sklearn.datasets import load_svmlight_file  # noqa: E402

CLI = os.environ["FENCHEL_CLI"]
PROBES = Path(CLI).parent
LEVELS = (1e-3, 1e-5, 1e-7)
TOLERANCES = (0.1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 1e-8)
DUAL_EPS = (0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4)
NEWTON_EPS = (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
LIBLINEAR = {"hinge": {3: DUAL_EPS}, "squared-hinge": {1: DUAL_EPS, 2: NEWTON_EPS}, "logistic": {7: DUAL_EPS, 0: NEWTON_EPS},
             "multiclass-hinge": {4: DUAL_EPS}}
SHORT = 1.0       # seconds: what is shorter is measured again
MIDDLE_COST = 1.0  # for what is measured at one only
REFERENCE = 1e-9  # the relative gap at which our dual value counts as the optimum
OPTIMA = common.RESULTS / "optima.json"


@lru_cache(maxsize=1)
def load(name):
    matrix, target = load_svmlight_file(str(problems.data_file(name)))
    classes, places = np.unique(target, return_inverse=True)
    return Data(matrix, 2.0 * places - 1.0 if len(classes) == 2 else places, len(classes))


# --- runs ---

@dataclass
class Run:
    setting: float  # tolerance or number of epochs
    seconds: float
    objective: float
    more: dict = field(default_factory=dict)


@dataclass
class Case:
    data: str
    loss: str
    cost: float
    lam: float = 0.0
    shape: tuple = ()
    tools: dict = field(default_factory=dict)    # name: runs
    missing: dict = field(default_factory=dict)  # name: why
    optimum: dict = field(default_factory=dict)  # value, dual, gap (relative), certified
    memory: dict = field(default_factory=dict)   # what a process that fits once, to LEVELS[0], says; at one cost

    @property
    def key(self):
        return f"{self.data} {self.loss} C={self.cost:g}"

    def distance(self, run):
        return run.objective / self.optimum["value"] - 1

    def open(self, level):
        """Whether too little is known about the optimum to say who came there: the best objective would be its own judge."""
        return self.optimum["gap"] > level

    def fastest(self, tools, level):
        """(seconds, tool, run) of the fastest run that is so near; None where no one came there, or that is open."""
        if self.open(level):
            return None
        reached = [(run.seconds, tool, run) for tool in tools for run in self.tools.get(tool, ())
                   if self.distance(run) <= level]
        return min(reached, key=lambda entry: entry[0], default=None)

    def easiest(self, tools, level):
        """The same among the loosest settings of each tool that come so near: a single time, which may be a disturbed one, does not
        choose a tighter one."""
        if self.open(level):
            return None
        loosest = []
        for tool in tools:
            reached = [run for run in self.tools.get(tool, ()) if self.distance(run) <= level]
            if reached:
                run = max(reached, key=lambda run: run.setting)
                loosest.append((run.seconds, tool, run))
        return min(loosest, key=lambda entry: entry[0], default=None)

    def named(self, prefix):
        return [tool for tool in self.tools if tool.startswith(prefix)]


class Refused(Exception):
    """The program does not know that solver or loss (yet)."""


def lines_of(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode == 2:
        raise Refused(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def grid(values):
    return ",".join(f"{value:g}" for value in values)


def fit_probe(case, solver, tolerances, cap, weights=True):
    prefix = problems.scratch() / "weights"
    command = [PROBES / "fit_probe", problems.data_file(case.data), "--loss", case.loss, "--C", case.cost, "--bias", "none",
               "--solver", solver, "--tols", grid(tolerances), "--threads", 2, "--time-limit", cap, "--weights-to", prefix]
    lines = lines_of(command)
    for k, line in enumerate(lines):
        if weights:
            line["weights"] = f"{prefix}.{k}"
        line["setting"] = line.pop("tol")
    return lines


def liblinear_probe(case, solver, tolerances, cap):
    prefix = problems.scratch() / "weights"
    lines = lines_of([PROBES / "liblinear_probe", problems.data_file(case.data), "-s", solver, "-c", case.cost,
                      "--eps", grid(tolerances), "--cap", cap, "--weights-to", prefix])
    for k, line in enumerate(lines):
        line["setting"] = line.pop("eps")
        line["weights"] = f"{prefix}.{k}"
    return [line for line in lines if line["status"] != "time-limit"]


def take(case, tool, lines):
    """The first time, weights become objectives; later only times may become less."""
    runs = case.tools.setdefault(tool, [])
    known = {run.setting: run for run in runs}
    for line in lines:
        if line["setting"] in known:
            known[line["setting"]].seconds = min(known[line["setting"]].seconds, line["seconds"])
            continue
        weights = np.fromfile(line.pop("weights"))
        value = objective(load(case.data), case.loss, case.lam, weights)
        runs.append(Run(line.pop("setting"), line.pop("seconds"), value, line))


def measure_tool(case, tool, run, settings):
    try:
        take(case, tool, run(settings))
    except Refused as reason:
        case.missing[tool] = str(reason)


def chosen_before(case):
    """What `auto` was: the same again would tell nothing."""
    return {f"fenchel {runs[0].more['solver']}" for tool, runs in case.tools.items() if tool == "fenchel auto" and runs}


def measure_in_turns(case, tools, rounds):
    """`tools` are {name: (settings -> lines, settings)}; after the first round only short fits are repeated."""
    for name, (run, settings) in list(tools.items()):
        if name in chosen_before(case):
            del tools[name]
        else:
            measure_tool(case, name, run, settings)
    for _ in range(rounds - 1):
        for name, (run, _) in tools.items():
            again = [entry.setting for entry in case.tools.get(name, ()) if entry.seconds < SHORT]
            if again:
                measure_tool(case, name, run, again)


def measure_case(data, loss, cost, options):
    """All tools on one problem, in turns."""
    shape = load(data).matrix.shape
    case = Case(data, loss, cost, 1 / (cost * shape[0]), shape)
    tools = {f"fenchel {name}": (lambda settings, name=name: fit_probe(case, name, settings, options.cap), TOLERANCES)
             for name in options.solvers}
    for solver, settings in LIBLINEAR[loss].items():
        tools[f"LIBLINEAR -s {solver}"] = (
            lambda chosen, solver=solver: liblinear_probe(case, solver, chosen, options.cap), settings)
    measure_in_turns(case, tools, options.rounds)
    settle(case, options.reference)
    if cost == MIDDLE_COST and case.tools.get(f"fenchel {options.solvers[0]}"):
        line = fit_probe(case, options.solvers[0], [LEVELS[0]], options.cap, weights=False)[-1]
        case.memory = line if line["status"] == "optimal" else {}
    if options.sklearn == "all" or (options.sklearn == "some" and cost == MIDDLE_COST):
        measure_sklearn(case, options.cap)
    return case


def measure_sklearn(case, cap):
    """It has ten times as long as the fastest of us took to the last level."""
    best = case.fastest(case.tools, LEVELS[-1]) or case.fastest(case.tools, LEVELS[-2])
    cap = min(cap, max(1.0, 10 * best[0])) if best else cap
    data = load(case.data)
    for name in _sklearn.estimators(case.loss, case.cost, 1):
        prefix = problems.scratch() / "weights"
        take(case, f"sklearn {name}",
             _sklearn.measure(data.matrix, data.labels, name, case.loss, case.cost, cap, prefix))
    check_bound(case)


# --- the optimum ---

def settle(case, seconds):
    """The largest dual value that we can certify, and the least objective of anybody, from this run or an earlier one."""
    everything = json.loads(OPTIMA.read_text()) if OPTIMA.exists() else {}
    stored = everything.get(case.key, {"dual": 0.0, "primal": float("inf")})
    dual = max([stored["dual"], *(run.more["dual"] for tool in case.named("fenchel") for run in case.tools[tool])])
    primal = min([stored["primal"], *(run.objective for runs in case.tools.values() for run in runs)])
    for tool in case.named("fenchel"):
        if primal <= dual * (1 + REFERENCE):
            break
        line = fit_probe(case, tool.split()[1], [REFERENCE / 2], seconds, weights=False)[-1]
        dual, primal = max(dual, line["dual"]), min(primal, line["primal"])
    gap = max(0.0, primal / dual - 1) if dual > 0 else float("inf")
    certified = gap <= REFERENCE
    case.optimum = {"value": dual if certified else primal, "dual": dual, "gap": gap, "certified": certified}
    check_bound(case)
    if {"dual": dual, "primal": primal} != stored:
        everything[case.key] = {"dual": dual, "primal": primal}
        common.write_json(OPTIMA, dict(sorted(everything.items())))


def check_bound(case):
    """No tool's objective may lie below our dual value."""
    for tool, runs in case.tools.items():
        for run in runs:
            if run.objective < case.optimum["dual"] * (1 - 1e-12):
                raise RuntimeError(f"{case.key}: {tool} at {run.setting:g} has the objective {run.objective!r}, below our "
                                   f"dual value {case.optimum['dual']!r}: somebody is wrong")
