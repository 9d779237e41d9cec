#!/usr/bin/env python3
"""How fast data are read, next to LIBLINEAR, scikit-learn and the memory itself; what `.fbin` costs; peak memory; and
what the fuzzers have tried. Writes its section of docs/benchmarks.md; `data.py render` writes it again with the numbers
that stand there, for another text or a longer run of the fuzzers."""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import _common as common

import _fuzzing as fuzzing

RENDER = sys.argv[1:] == ["render"]
if not RENDER:
    common.require()
    import problems
    from sklearn.datasets import load_svmlight_file

SETS = ("rcv1-binary", "imdb-tfidf", "20news-bigram", "kddcup99-10pct")
CLI = os.environ.get("FENCHEL_CLI", "")
PROBE = Path(CLI).parent / "read_probe"
ROUNDS, SHORT_ROUNDS = 5, 40  # the second for what takes milliseconds


def probe(what, path, threads):
    """One measurement in a process of its own."""
    done = subprocess.run([PROBE, what, path, str(threads)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def best(rounds, *measurements):
    """The least of each number over several processes a measurement, taken in turns."""
    turns = [[probe(*measurement) for measurement in measurements] for _ in range(rounds)]
    return [{key: min(run[key] for run in runs) for key in runs[0]} for runs in zip(*turns)]


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
    one, two, floor = best(ROUNDS, ("read", path, 1), ("read", path, 2), ("touch", path, 1))
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
    measured = best(SHORT_ROUNDS, *((what, path, threads) for threads in (1, 2) for what in ("pass", "touch")))
    for threads, ours, floor in ((1, *measured[:2]), (2, *measured[2:])):
        peak = common.peak_memory(PROBE, "pass", path, threads)
        rows.append([name, str(threads), path.stat().st_size / 1e6, 1e3 * ours["open"], 1e3 * ours["first"],
                     ours["first"] / floor["first"], ours["second"] / floor["second"], peak / ours["bytes"]])
    print(*map(common.number, rows[-1][2:]), flush=True)
    return rows


def measure_streams(name):
    """Compressed text, and other formats, in units of reading the plain text."""
    text = problems.data_file(name)
    plain = best(ROUNDS, ("read", text, 2))[0]["read"]
    cells = [name]
    for extension in ("svm.gz", "svm.zst", "svm.bz2", "svm.xz", "mtx"):
        path = problems.scratch() / f"{name}.{extension}"
        subprocess.run([CLI, "convert", "--quiet", text, path], check=True)
        cells.append(min(probe("read", path, 2)["read"] for _ in range(2)) / plain)
        path.unlink()
    return cells


# --- the text ---

# What was aimed at: table, column, most, why a row that misses does.
GOALS = (
    ("memory", "(peak - file) / arrays", 1.2, "the program itself is in it, which weighs most next to the smallest arrays"),
    ("binary", "first / touch", 1.6, "the first pass hashes every byte, checks every entry and computes the norms, with the bytes of a "
     "block in a core's own cache; rows of 13 entries, as kddcup99-10pct has them, leave the most to do besides"),
    ("binary", "second / touch again", 1.3, "these passes take a few milliseconds, and a second thread speeds them up less than it does "
     "the touching; the cause was not measured"),
)

HEADERS = {
    "text": ["data", "MB", "1", "MB/s", "2", "1 / 2", "LIBLINEAR / 1", "scikit-learn / 1", "1 / touch", "1 / copy"],
    "memory": ["data", "arrays MB", "peak MB", "(peak - file) / arrays"],
    "binary": ["data", "threads", "MB", "open ms", "first ms", "first / touch", "second / touch again", "peak / arrays"],
    "streams": ["data", "gzip", "zstd", "bzip2", "xz", "mtx"],
}


def with_goals(name, tables):
    """The table, its goals as its last row, and a sentence about every goal."""
    header, rows = HEADERS[name], tables[name]
    goals = {column: most for table, column, most, _ in GOALS if table == name}
    last = ["**goal**"] + [f"**≤ {goals[column]}**" if column in goals else "" for column in header[1:]]
    text = [common.table(header, [*rows, last])]
    for table, column, most, reason in GOALS:
        if table != name:
            continue
        at = header.index(column)
        threads = lambda row: f", threads {row[1]}" if header[1] == "threads" else ""
        missed = [f"{row[0]} ({number_of(row[at])}{threads(row)})" for row in rows if float(row[at]) > most]
        verdict = f"missed by {len(missed)} of {len(rows)} rows: {', '.join(missed)}: {reason}" if missed else "met by every row"
        text.append("\n" + textwrap.fill(f"*{column}*, at most {most}: {verdict}.", 120, break_on_hyphens=False))
    return "\n".join(text)


def number_of(cell):
    return cell if isinstance(cell, str) else common.number(cell)


def report(preface, tables):
    header = f"""
## Reading data

{preface}

### svmlight text

*1* and *2* are seconds of `data::read` with one and two threads, from a path to a matrix that is ready. The peers are
in units of our time with one thread, above 1 where we are faster: LIBLINEAR is `train -s 1 -e 1e9` (reading plus one
sweep plus writing the model: it cannot read alone), scikit-learn is `load_svmlight_file`. *Touch* maps the same bytes and
sums up their words, *copy* is a `memcpy` of them: our time in units of these says how far reading is from the memory.
"""
    text = [header, common.table(HEADERS["text"], tables["text"])]
    text.append("""
Peak memory of reading (two threads), the mapped file taken off, in units of the arrays that remain (the program itself
is in it, about 10 MB):
""")
    text.append(with_goals("memory", tables))
    text.append("""
### `.fbin`

*Open* is milliseconds from a path to a data set, *first* those of the first pass over all entries (squared norms of all
rows), which checks every block on the way. Both passes are also given in units of mapping and summing up the words of
the same file, a first and a second time. Peak memory is in units of the arrays.
""")
    text.append(with_goals("binary", tables))
    text.append("\n### Compressed text and MatrixMarket, two threads, in units of reading the plain text\n")
    text.append(common.table(HEADERS["streams"], tables["streams"]))
    text.append(fuzzing.section())
    return "\n".join(text)


def measure():
    begin = time.monotonic()
    texts, memories = zip(*(measure_text(name) for name in SETS))
    tables = {"text": texts, "memory": memories, "binary": [row for name in SETS for row in measure_binary(name)],
              "streams": [measure_streams(name) for name in ("imdb-tfidf", "kddcup99-10pct")]}
    preface = f"""`FENCHEL_DATA=DIR ./dev bench data` on: {common.machine()}.
One run of {time.monotonic() - begin:.0f} seconds, files in the page cache; the best of {ROUNDS} processes each in turns, of {SHORT_ROUNDS} for `.fbin`, of 2 for the peers."""
    return preface, tables


def recorded():
    """What the document says was measured, digits as they stand there."""
    section = common.read_section("data")
    preface = section.split("## Reading data\n\n", 1)[1].split("\n\n", 1)[0]
    return preface, {name: [row for row in common.read_table(section, header) if row[0] != "**goal**"]
                     for name, header in HEADERS.items()}


common.write_section("data", report(*(recorded() if RENDER else measure())))
