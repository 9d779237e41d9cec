#!/usr/bin/env python3
"""How fast data are read, next to LIBLINEAR, scikit-learn and the memory itself; what `.fbin` costs; peak memory; and
what the fuzzers have tried. Writes its section of docs/benchmarks.md."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import _common as common

common.require()
import problems  # noqa: E402  (after the check that there are data)
from sklearn.datasets import load_svmlight_file  # noqa: E402

SETS = ("rcv1-binary", "imdb-tfidf", "20news-bigram", "kddcup99-10pct")
CLI = os.environ["FENCHEL_CLI"]
PROBE = Path(CLI).parent / "read_probe"
ROUNDS = 5


def probe(what, path, threads):
    """One measurement in a process of its own."""
    done = subprocess.run([PROBE, what, path, str(threads)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def best(what, path, threads):
    """The least of each number over several processes."""
    runs = [probe(what, path, threads) for _ in range(ROUNDS)]
    return {key: min(run[key] for run in runs) for key in runs[0]}


def seconds(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def liblinear(path):
    """Reading and one sweep: the tool has no way to read alone."""
    model = problems.scratch() / "liblinear.model"
    command = ["liblinear-train", "-q", "-s", "1", "-e", "1e9", path, model]
    return min(seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)) for _ in range(2))


def scikit_learn(path):
    return min(seconds(lambda: load_svmlight_file(str(path))) for _ in range(2))


def measure_text(name):
    path = problems.data_file(name)
    size = path.stat().st_size
    one, two = best("read", path, 1), best("read", path, 2)
    floor = best("touch", path, 1)
    peers = (liblinear(path), scikit_learn(path))
    peak = common.peak_memory(PROBE, "read", path, 2)
    row = [name, size / 1e6, one["read"], size / one["read"] / 1e6, two["read"], one["read"] / two["read"],
           peers[0] / one["read"], peers[1] / one["read"], one["read"] / floor["first"], one["read"] / floor["copy"]]
    memory = [name, one["bytes"] / 1e6, peak / 1e6, (peak - size) / one["bytes"]]
    print(*map(common.number, row[1:]), flush=True)
    return row, memory


def measure_binary(name):
    text = problems.data_file(name)
    path = problems.scratch() / f"{name}.fbin"
    subprocess.run([CLI, "convert", "--quiet", text, path], check=True)
    rows, peak = [], None
    for threads in (1, 2):
        ours, floor = best("pass", path, threads), best("touch", path, threads)
        peak = common.peak_memory(PROBE, "pass", path, threads)
        rows.append([name, str(threads), path.stat().st_size / 1e6, 1e3 * ours["open"], 1e3 * ours["first"],
                     ours["first"] / floor["first"], ours["second"] / floor["second"], peak / ours["bytes"]])
    print(*map(common.number, rows[-1][2:]), flush=True)
    return rows


def measure_streams(name):
    """Compressed text, and other formats, in units of reading the plain text."""
    text = problems.data_file(name)
    plain = best("read", text, 2)["read"]
    cells = [name]
    for extension in ("svm.gz", "svm.zst", "svm.bz2", "svm.xz", "mtx"):
        path = problems.scratch() / f"{name}.{extension}"
        subprocess.run([CLI, "convert", "--quiet", text, path], check=True)
        cells.append(min(probe("read", path, 2)["read"] for _ in range(2)) / plain)
        path.unlink()
    return cells


def fuzzed():
    """What `./dev fuzz` left in its logs: executions and seconds of each target."""
    rows = []
    for log in sorted((common.SOURCE / "build" / "fuzz" / "fuzz-logs").glob("*.log")):
        text = log.read_text(errors="replace")
        runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        spent = re.search(r"Done \d+ runs in (\d+) second", text)
        if runs and spent:
            rows.append([log.stem, spent[1], f"{int(runs[1]):,}", "none"])
    return rows


def report(texts, memories, binaries, streams, took):
    header = f"""
## Reading data

`FENCHEL_DATA=DIR ./dev bench data` on: {common.machine()}.
One run of {took:.0f} seconds, files in the page cache; the best of {ROUNDS} processes each, of 2 for the peers.

### svmlight text

*1* and *2* are seconds of `data::read` with one and two threads, from a path to a matrix that is ready. The peers are
in units of our time with one thread, above 1 where we are faster: LIBLINEAR is `train -s 1 -e 1e9` (reading plus one
sweep plus writing the model: it cannot read alone), scikit-learn is `load_svmlight_file`. *Touch* maps the same bytes and
sums up their words, *copy* is a `memcpy` of them: our time in units of these says how far reading is from the memory.
"""
    text = [header, common.table(["data", "MB", "1", "MB/s", "2", "1 / 2", "LIBLINEAR / 1", "scikit-learn / 1",
                                  "1 / touch", "1 / copy"], texts)]
    text.append("""
Peak memory of reading (two threads), the mapped file taken off, in units of the arrays that remain (the program itself
is in it, about 10 MB):
""")
    text.append(common.table(["data", "arrays MB", "peak MB", "(peak - file) / arrays"], memories))
    text.append("""
### `.fbin`

*Open* is milliseconds from a path to a data set, *first* those of the first pass over all entries (squared norms of all
rows), which checks every block on the way. Both passes are also given in units of mapping and summing up the words of
the same file, a first and a second time. Peak memory is in units of the arrays.
""")
    text.append(common.table(["data", "threads", "MB", "open ms", "first ms", "first / touch", "second / touch again",
                              "peak / arrays"], binaries))
    text.append("\n### Compressed text and MatrixMarket, two threads, in units of reading the plain text\n")
    text.append(common.table(["data", "gzip", "zstd", "bzip2", "xz", "mtx"], streams))
    rows = fuzzed()
    if rows:
        text.append("\n### Fuzzing\n\nlibFuzzer with address and undefined-behaviour sanitizers, several targets at once on two cores:\n")
        text.append(common.table(["target", "seconds", "executions", "findings"], rows))
    return "\n".join(text)


def main():
    begin = time.monotonic()
    texts, memories = zip(*(measure_text(name) for name in SETS))
    binaries = [row for name in SETS for row in measure_binary(name)]
    streams = [measure_streams(name) for name in ("imdb-tfidf", "kddcup99-10pct")]
    common.write_section("data", report(texts, memories, binaries, streams, time.monotonic() - begin))


main()
