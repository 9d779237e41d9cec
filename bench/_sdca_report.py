"""The words and tables of bench/sdca.py."""

import _common as common
from _sdca_measure import LEVELS, SHORT

PROCESS_TARGETS = {"rcv1-binary": 5, "imdb-tfidf": 5, "20news-bigram": 5, "kddcup99-10pct": 3}
NEVER = "not reached"
OPEN = "open"


def power(level):
    """1e-3 rather than 0.001."""
    return f"{level:.0e}".replace("e-0", "e-")


def ratio(case, ours, level):
    """LIBLINEAR's best time over ours; None where one of us did not come there."""
    mine, theirs = case.fastest([ours], level), case.fastest(case.named("LIBLINEAR"), level)
    return theirs[0] / mine[0] if mine and theirs else None


def verdict(good):
    return "met" if good else "**missed**"


def list_of(items, empty="none"):
    return ", ".join(items) if items else empty


# --- solving alone ---

def solve_rows(cases, ours):
    rows = []
    for case in cases:
        row = [case.data, case.loss, f"{case.cost:g}"]
        for level in LEVELS:
            mine, theirs = case.fastest([ours], level), case.fastest(case.named("LIBLINEAR"), level)
            none = OPEN if case.open(level) else NEVER
            row += [mine[0] if mine else none, f"{common.number(theirs[0])} ({theirs[1][10:]})" if theirs else none,
                    ratio(case, ours, level)]
        rows.append(row)
    return rows


def ratio_text(cases, ours):
    """Geometric means, and every case in which we are slower."""
    lines = []
    for level in LEVELS:
        ratios = {case.key: ratio(case, ours, level) for case in cases}
        known = {key: value for key, value in ratios.items() if value is not None}
        slower = [f"{key} ({common.number(value)})" for key, value in known.items() if value < 1]
        alone = [case.key for case in cases
                 if case.fastest([ours], level) and not case.fastest(case.named("LIBLINEAR"), level)]
        behind = [case.key for case in cases
                  if not case.fastest([ours], level) and case.fastest(case.named("LIBLINEAR"), level)]
        unknown = [case.key for case in cases if case.open(level)]
        neither = len(cases) - len(known) - len(alone) - len(behind) - len(unknown)
        mean = common.geometric_mean(list(known.values()))
        text = (f"- **{power(level)}**: geometric mean {common.number(mean)} over {len(known)} cases that both reach"
                f"{f', smallest {common.number(min(known.values()))}' if known else ''}.")
        if level > LEVELS[-1]:
            text += (f" Target at least 1.5 (goal 2): {verdict(mean is not None and mean >= 1.5)}; no case slower: "
                     f"{verdict(known and not slower and not behind)}.")
        text += f" Slower: {list_of(slower)}. Reached by LIBLINEAR only: {list_of(behind)}. By us only: {list_of(alone)}."
        lines.append(text + f" Open: {list_of(unknown)}." + (f" By neither: {neither}." if neither else ""))
    return "\n".join(lines)


def mean_rows(cases, ours):
    rows = []
    for group in (lambda case: case.data, lambda case: case.loss, lambda case: f"C = {case.cost:g}"):
        for name in dict.fromkeys(map(group, cases)):
            members = [case for case in cases if group(case) == name]
            ratios = [[ratio(case, ours, level) for case in members] for level in LEVELS]
            rows.append([name] + [common.geometric_mean([r for r in column if r is not None]) for column in ratios])
    return rows


def tool_rows(cases, ours):
    """Every tool beside ours: how often it comes there, and its time over ours where both do."""
    rows = []
    for tool in dict.fromkeys(tool for case in cases for tool in case.tools):
        row = [tool]
        for level in LEVELS:
            asked = [case for case in cases if tool in case.tools]
            there = [case for case in asked if case.fastest([tool], level)]
            ratios = [case.fastest([tool], level)[0] / case.fastest([ours], level)[0] for case in there
                      if case.fastest([ours], level)]
            row += [f"{len(there)} of {len(asked)}", common.geometric_mean(ratios)]
        rows.append(row)
    return rows


# --- the rest ---

def process_text(processes):
    if not processes:
        return "Nothing measured."
    rows, missed = [], []
    for entry in processes:
        data = entry["case"].split()[0]
        if "missing" in entry:
            rows.append([entry["case"], entry["missing"], "", "", ""])
            if "LIBLINEAR" not in entry["missing"]:
                missed.append(entry["case"])
            continue
        value = entry["liblinear"] / entry["ours"]
        rows.append([entry["case"], f"{common.number(entry['ours'])} (--tol {entry['tol']:g})",
                     f"{common.number(entry['liblinear'])} (-s {entry['solver']} -e {entry['eps']:g})", value,
                     " / ".join(common.number(max(d, 0.0)) for d in entry["distances"])])
        if value < PROCESS_TARGETS[data]:
            missed.append(f"{entry['case']} ({common.number(value)})")
    return (f"Targets: at least 5 on rcv1-binary, imdb-tfidf and 20news-bigram, 3 on kddcup99-10pct. Missed: {list_of(missed)}."
            "\n\n" + common.table(["case", "ours", "LIBLINEAR", "ratio", "distances (ours / its)"], rows))


def certificate_text(cases, ours):
    runs = [(run.more["certificate_share"], run.more["certificate_passes"], case.key, run)
            for case in cases for run in case.tools.get(ours, ())]
    if not runs:
        return "Nothing measured."
    over = [entry for entry in runs if entry[0] > 0.05 and entry[1] > 2]
    passes = [entry[1] / entry[3].more["passes"] for entry in runs if entry[1] > 2]
    rows = [[key, f"{run.setting:g}", run.more["passes"], count, run.seconds, run.more["certificate_seconds"], 100 * share]
            for share, count, key, run in sorted(over, key=lambda entry: -entry[0])[:12]]
    text = (f"Target: at most 5 % of the time of solving, or two passes. Of {len(runs)} fits {len(over)} spend more than "
            f"5 % of their seconds on more than two passes ({verdict(not over)})")
    text += f"; counted in passes the largest share is {common.number(100 * max(passes))} %." if passes else "."
    return text + ("\n\n" + common.table(["case", "tol", "passes", "of certificates", "seconds", "of certificates", "share %"],
                                         rows) if rows else "")


def memory_text(cases):
    rows = []
    for case in cases:
        if not case.memory:
            continue
        vectors = 8 * sum(case.shape)
        data = case.memory["data_bytes"]
        peak = case.memory["peak_bytes"] - case.memory["file_bytes"] - case.memory["empty_bytes"]
        rows.append([case.data, case.loss, data / 1e6, vectors / 1e6, peak / 1e6, peak / (data + vectors),
                     max(0.0, (peak - 1.3 * data) / vectors)])
    missed = [f"{row[0]} {row[1]} ({common.number(row[5])})" for row in rows if row[5] > 1.3]
    most = max((row[6] for row in rows), default=0.0)
    return (f"Target: 1.3 times the data, and vectors. The last column counts these: doubles of a row and a column each, held beyond 1.3 times the "
            f"data; {common.number(most)} at the most. Where rows are short, as in a9a and w8a (a dozen entries), what the solver and the certificate "
            f"keep for every row weighs as much as the row. Above 1.3 times data and one such vector: {list_of(missed)}.\n\n"
            + common.table(["data", "loss", "data MB", "vectors MB", "peak MB", "ratio", "vectors beyond"], rows))


MULTICLASS = "### Multiclass losses"


def multiclass_text(result):
    if not result:
        return ""
    rows, missed = [], []
    refused = [entry["case"] for entry in result["peers"] if "fenchel auto" in entry["missing"]]
    for entry in result["peers"]:
        for level, times in entry["levels"].items():
            mine = times.get("fenchel auto")
            others = {tool: seconds for tool, seconds in times.items() if tool != "fenchel auto" and seconds}
            best = min(others.items(), key=lambda item: item[1], default=None)
            value = best[1] / mine if mine and best else None
            missing = "refused" if entry["case"] in refused else OPEN if float(level) in entry["open"] else NEVER
            level = power(float(level))
            cells = [f"{tool} {common.number(seconds)}" for tool, seconds in others.items()]
            rows.append([entry["case"], level, mine or missing, list_of(cells, NEVER), value])
            if best and entry["case"] not in refused and (value is None or value < 3):
                missed.append(f"{entry['case']} at {level}" + (f" ({common.number(value)})" if value else ""))
    raw = []
    for entry in result["raw"]:
        gaps = [f"{seconds:.2f} s to {gap:.1e}" + ("" if status == "optimal" else f" ({status})")
                for _, seconds, gap, status in entry["gaps"]]
        raw.append([entry["case"], "refused" if "missing" in entry else list_of(gaps)])
    own = result.get("own_run")
    of_its_own = f"Measured in a run of its own, of {own['seconds']:.0f} seconds, at most {own['cap']} a fit. " if own else ""
    return f"""
{MULTICLASS}

{of_its_own}C = 1, no bias, seconds of solving; the ratio is the fastest peer's time over ours. *Refused*: this version has no such
loss, and distances are those from the best of the peers. Target: at least 3. Missed: {list_of(missed)}. Refused: {list_of(refused)}.

{common.table(["case", "distance", "ours", "peers", "ratio"], rows)}

Unscaled data: our seconds to a certified relative gap.

{common.table(["case", "gaps"], raw)}
"""


def document(cases, processes, multiclass, ours, options, took):
    missing = dict.fromkeys(f"{tool}: {why}" for case in cases for tool, why in case.missing.items())
    open_cases = [f"{case.key} ({case.optimum['gap']:.0e})" for case in cases if not case.optimum["certified"]]
    caps = f" ({options.multiclass_cap} with a multiclass loss)" if options.multiclass else ""
    return f"""
## Time to the optimum, against LIBLINEAR and scikit-learn

`{common.command()}` on: {common.machine()}.
One run of {took:.0f} seconds. All tools solve ½‖w‖² + C Σ loss without bias on the same data, in turns, case by case; fits
shorter than {SHORT:g} s are measured {options.rounds} times and the fastest counts. For every tool it is the least time over a grid
of its tolerances after which the objective, recomputed in float64 from its weights, is within the relative distance
1e-3, 1e-5 or 1e-7 of the optimum; a fit may take {options.cap} seconds{caps}. We use two threads; ratios above 1 mean that we are
faster. Raw numbers: `bench/results/sdca.json`; curves: `bench/results/sdca.svg`.

The optimum is our largest certified dual value where it is within 1e-9 of the best objective that any tool has found; else
that objective itself, with the gap that is left: {list_of(open_cases)}.
Where that gap is larger than a distance, nobody is said to have come so near: the case is *open* there.

Not in this version: {list_of([f"`{entry}`" for entry in missing])}.

### Solving alone, data in memory

Ours is `--solver {ours.split()[1]} --threads 2`; LIBLINEAR is its library, `train()` on data in its own structures, with
the faster of its solvers for the loss (in brackets). Ratio: its time over ours.

{ratio_text(cases, ours)}

{common.table(["data", "loss", "C"] + [f"{what} {power(level)}" for level in LEVELS for what in ("ours", "LIBLINEAR", "ratio")],
              solve_rows(cases, ours))}

Geometric means of the ratios:

{common.table(["", *map(power, LEVELS)], mean_rows(cases, ours))}

Every tool: the cases in which it comes there in time, and the geometric mean of its time over ours where both do.
scikit-learn is its `fit` on data in memory, with ten times the time of the fastest tool (one second at least) a fit{", at C = 1 only" if options.sklearn == "some" else ""}.

{common.table(["tool"] + [f"{what} {power(level)}" for level in LEVELS for what in ("reached", "ratio")], tool_rows(cases, ours))}

### Whole processes to 1e-3

Read text, fit, write the model: `fenchel train --threads 2` and `liblinear-train`, each at the loosest setting that comes
there, with the solver that does so soonest; the least of five, in turns. Distances are recomputed from the model files.

{process_text(processes)}
{multiclass_text(multiclass)}
### The share of certificates

{certificate_text(cases, ours)}

### Peak memory of a fit

C = 1, tolerance 1e-3, a process each: the most memory that it holds while solving, less what it held before it read the data and
less the pages of the program itself, over the matrix with its labels (*data*) and one double a row and a column (*vectors*).

{memory_text(cases)}
"""
