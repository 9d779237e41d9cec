#!/usr/bin/env python3
"""Products with the data, z = X w and g = X'a, beside scipy.sparse and numpy and beside the memory's speed (a triad), all
in one run. Writes its section of docs/benchmarks.md."""

import json
import os
import subprocess
import time
from pathlib import Path

import _common as common

common.require()
import numpy as np  # noqa: E402
import problems  # noqa: E402
from sklearn.datasets import load_svmlight_file  # noqa: E402

SPARSE = ("imdb-tfidf", "20news-bigram", "kddcup99-10pct")
DENSE = ("blogfeedback",)
THREADS, ROUNDS, REPEATS = 2, 5, 5
# Shares of the triad, and ratios to the peer's time.
GOALS = {"sparse": {"margins": (0.60, 2.0), "adjoint": (0.40, 1.5)}, "dense": {"margins": (0.80, None), "adjoint": (0.80, None)}}
NAMES = {"margins": "X w", "adjoint": "X'a"}
STORAGES = ("CSR, 64 bits", "CSR, 32 bits", "dense, 64 bits", "dense, 32 bits")  # as in data::Matrix
PROBE = Path(os.environ["FENCHEL_CLI"]).parent / "products_probe"


def probe(path, kind):
    command = [PROBE, path, str(THREADS), str(ROUNDS), *(["dense"] if kind == "dense" else [])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def least(run):
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - begin)
    return best


def measure(name, kind):
    """The least seconds of ours and the peer's, and the fastest triad, taken in turns."""
    path = problems.data_file(name)
    matrix, _ = load_svmlight_file(str(path))
    if kind == "dense":
        matrix = matrix.toarray()
    w, a = np.random.default_rng(1).normal(size=matrix.shape[1]), np.random.default_rng(2).normal(size=matrix.shape[0])
    adjoint = matrix.T
    ours, peer, triad = {}, {}, 0.0
    for _ in range(REPEATS):
        run = probe(path, kind)
        triad = max(triad, run["triad_bytes_per_second"])
        for key in ("margins", "adjoint", "fused"):
            ours[key] = min(ours.get(key, run[key]), run[key])
        for key, product in (("margins", lambda: matrix @ w), ("adjoint", lambda: adjoint @ a)):
            peer[key] = min(peer.get(key, float("inf")), least(product))
    return {"name": name, "kind": kind, "storage": STORAGES[run["storage"]], "bytes": run["bytes"], "triad": triad,
            "ours": ours, "peer": peer}


def verdict(result, key):
    share, ratio = GOALS[result["kind"]][key]
    met = result["bytes"] / result["ours"][key] >= share * result["triad"]
    met = met and (ratio is None or result["peer"][key] >= ratio * result["ours"][key])
    return "met" if met else "missed"


def document(results, took):
    rows, fused = [], []
    for result in results:
        for key, name in NAMES.items():
            seconds = result["ours"][key]
            rate = result["bytes"] / seconds
            rows.append([result["name"], result["storage"], name, seconds * 1e3, rate / 1e9, f"{rate / result['triad']:.0%}",
                         result["peer"][key] / seconds, verdict(result, key)])
        apart = result["ours"]["margins"] + result["ours"]["adjoint"]
        fused.append([result["name"], result["ours"]["fused"] * 1e3, apart / result["ours"]["fused"]])
    triad = max(result["triad"] for result in results) / 1e9
    return f"""## Products with the data

{common.machine()}. {THREADS} threads; the least of {REPEATS} processes of {ROUNDS} rounds, in turns with the peer (scipy.sparse in
float64 for sparse data, numpy's BLAS for dense ones), {took:.0f} seconds together. Bytes are those of the matrix and of both vectors, once; the
triad (a = b + 3c, 24 bytes an entry) ran at {triad:.1f} GB/s at best, each row is compared with that of its own run.
Goals: X w at 60 % of the triad and 2 times scipy, X'a at 40 % and 1.5 times; dense data at 80 % for both.

{common.table(["data", "storage", "product", "ms", "GB/s", "of the triad", "peer's time / ours", "goal"], rows)}

Margins and gradient in one pass over the data, against the two products one after the other (two passes all the same where w and
X'a do not fit into a core's cache):

{common.table(["data", "ms", "two products / this"], fused)}
"""


def main():
    begin = time.monotonic()
    results = [measure(name, kind) for kind, names in (("sparse", SPARSE), ("dense", DENSE)) for name in names
               if problems.data_file(name)]
    if results:
        common.write_section("products", document(results, time.monotonic() - begin))


if __name__ == "__main__":
    main()
