"""Multiclass losses: LIBLINEAR's -s 4 and scikit-learn's multinomial regression next to our command line, which says itself
where it does not know a loss yet."""

import json
import time

import _sdca_measure as measure
import _sklearn
import numpy as np
import problems

COST = 1.0
HINGE = ("20news-tfidf", "sector.scale", "letter.scale", "usps")
SOFTMAX = ("usps", "20news-tfidf", "sector.scale")
RAW = ("news20", "mnist.t")  # unscaled
TOLERANCES = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)


def weights_of(model, columns):
    """Class after class, as our export gives them."""
    out = problems.scratch() / "model.json"
    done = problems.run(measure.CLI, "export", "--format", "json", model, out)
    if done.code != 0:
        raise RuntimeError(done.stderr)
    stacked = []
    for entry in json.loads(out.read_text())["weights"]:
        dense = np.zeros(columns)
        if isinstance(entry, dict):
            dense[entry["indices"]] = entry["values"]
        else:
            dense[:len(entry)] = entry
        stacked.append(dense)
    return np.concatenate(stacked)


def train(data, loss, tolerance, cap):
    model = problems.scratch() / "model.fenchel"
    done = problems.run(measure.CLI, "train", "--json", "--quiet", "--loss", loss, "--C", COST, "--bias", "none",
                        "--threads", 2, "--tol", tolerance, "--max-passes", 1000000, "--time-limit", cap, problems.data_file(data), model)
    if done.code == 2:
        raise measure.Refused(done.stderr.strip().splitlines()[-1])
    if done.code not in (0, 4):
        raise RuntimeError(done.stderr)
    return done, model


def ours(case, tolerances, cap):
    lines = []
    for k, tolerance in enumerate(tolerances):
        done, model = train(case.data, case.loss, tolerance, cap)
        path = problems.scratch() / f"ours.{k}"
        weights_of(model, measure.load(case.data).matrix.shape[1]).tofile(path)
        result = done.json
        lines.append({"setting": tolerance, "seconds": result["seconds"]["solve"], "weights": path, "dual": result["dual"],
                      "solver": result["solver"], "relative_gap": result["relative_gap"], "process": done.seconds})
        if result["status"] == "time-limit":
            break
    return lines


def settle(case):
    """The optimum: our dual value where it is tight, else the best objective that anybody found."""
    values = [run.objective for runs in case.tools.values() for run in runs]
    if not values:
        return
    dual = max((run.more["dual"] for run in case.tools.get("fenchel auto", ())), default=0.0)
    gap = min(values) / dual - 1 if dual > 0 else 0.0  # without a bound of ours the best of the peers must do
    certified = 0 < gap <= 1e-7
    case.optimum = {"value": dual if certified else min(values), "dual": dual, "gap": gap, "certified": certified}
    measure.check_bound(case)


def measure_case(data, loss, options):
    loaded = measure.load(data)
    case = measure.Case(data, loss, COST, 1 / (COST * loaded.matrix.shape[0]), loaded.matrix.shape)
    cap = options.multiclass_cap
    tools = {"fenchel auto": (lambda settings: ours(case, settings, cap), TOLERANCES)}
    for solver, settings in measure.LIBLINEAR.get(loss, {}).items():
        tools[f"LIBLINEAR -s {solver}"] = (
            lambda chosen, solver=solver: measure.liblinear_probe(case, solver, chosen, cap), settings)
    measure.measure_in_turns(case, tools, options.rounds)
    for name in _sklearn.estimators(loss, COST, 1) if options.sklearn != "none" else ():
        fits = _sklearn.measure(loaded.matrix, loaded.labels, name, loss, COST, cap, problems.scratch() / "weights")
        measure.take(case, f"sklearn {name}", fits)
    settle(case)
    return case


def summary(case):
    row = {"case": case.key, "missing": case.missing, "optimum": case.optimum, "levels": {},
           "open": [level for level in measure.LEVELS if case.optimum and case.open(level)]}
    for level in measure.LEVELS[:2]:
        found = {tool: case.fastest([tool], level) for tool in case.tools} if case.optimum else {}
        row["levels"][f"{level:g}"] = {tool: entry and entry[0] for tool, entry in found.items()}
    row["tools"] = {tool: [[run.setting, run.seconds, run.objective] for run in runs] for tool, runs in case.tools.items()}
    return row


def raw_case(data, loss, cap):
    """Our time to a certified gap."""
    row = {"case": f"{data} {loss} C={COST:g}", "gaps": []}
    for tolerance in (1e-2, 1e-3, 1e-4):
        try:
            result = train(data, loss, tolerance, cap)[0].json
        except measure.Refused as reason:
            return {**row, "missing": str(reason)}
        row["gaps"].append([tolerance, result["seconds"]["solve"], result["relative_gap"], result["status"]])
        if result["status"] != "optimal":
            break
    return row


def measure_all(options):
    begin = time.monotonic()
    result = {"peers": [], "raw": []}
    for loss, sets in (("multiclass-hinge", HINGE), ("softmax", SOFTMAX)):
        for data in sets:
            if problems.data_file(data) is None:
                continue
            result["peers"].append(summary(measure_case(data, loss, options)))
            print(f"{time.monotonic() - begin:6.0f} s  {result['peers'][-1]['case']}", flush=True)
    for data in RAW:
        for loss in ("multiclass-hinge", "softmax"):
            if problems.data_file(data) is not None:
                result["raw"].append(raw_case(data, loss, 3 * options.multiclass_cap))
                print(f"{time.monotonic() - begin:6.0f} s  {result['raw'][-1]['case']}", flush=True)
    return result
