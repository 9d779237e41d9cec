#!/usr/bin/env python3
"""How fast data are read, next to LIBLINEAR, scikit-learn and the memory itself; what `.fbin` costs; peak memory; and
what the fuzzers have tried. Writes its section of docs/benchmarks.md; `data.py render` writes it again with the numbers
that stand there, for another text or a longer run of the fuzzers."""

import json
import os
import statistics
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
ROUNDS, SHORT_ROUNDS, PEER_ROUNDS, STREAM_ROUNDS = 15, 31, 5, 5  # the second for what takes milliseconds


def probe(what, path, threads):
    """One measurement in a process of its own."""
    done = subprocess.run([PROBE, what, path, str(threads)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class Turns:
    """Several rounds of the same measurements, {name: function without arguments that gives a dictionary}, every other round
    backwards: what comes first must not matter."""

    def __init__(self, rounds, **measurements):
        orders = (list(measurements), list(reversed(measurements)))
        self.rounds = [{name: measurements[name]() for name in orders[k % 2]} for k in range(rounds)]

    def median(self, name, key):
        return statistics.median(turn[name][key] for turn in self.rounds)

    def ratio(self, above, below):
        """Both are (name, key). The median over the rounds: what disturbs a round mostly does so on both sides."""
        return statistics.median(turn[above[0]][above[1]] / turn[below[0]][below[1]] for turn in self.rounds)


def seconds(run):
    begin = time.perf_counter()
    run()
    return {"read": time.perf_counter() - begin}


def liblinear(path):
    """Reading and one sweep: the tool has no way to read alone."""
    model = problems.scratch() / "liblinear.model"
    command = ["liblinear-train", "-q", "-s", "1", "-e", "1e9", path, model]
    return seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


def scikit_learn(path):
    return seconds(lambda: load_svmlight_file(str(path)))


def measure_text(name):
    path = problems.data_file(name)
    size = path.stat().st_size
    ours = Turns(ROUNDS, one=lambda: probe("read", path, 1), two=lambda: probe("read", path, 2),
                 touch=lambda: probe("touch", path, 1))
    # After a process of seconds the system is still busy with what that has left: the next two are not counted.
    peers = Turns(PEER_ROUNDS, liblinear=lambda: liblinear(path), one=lambda: [probe("read", path, 1) for _ in range(3)][-1],
                  sklearn=lambda: scikit_learn(path))
    one, two = ("one", "read"), ("two", "read")
    peak, arrays = common.peak_memory(PROBE, "read", path, 2), ours.median("one", "bytes")
    row = [name, size / 1e6, ours.median(*one), size / ours.median(*one) / 1e6, ours.median(*two), ours.ratio(one, two),
           peers.ratio(("liblinear", "read"), one), peers.ratio(("sklearn", "read"), one),
           ours.ratio(one, ("touch", "first")), ours.ratio(one, ("touch", "copy"))]
    memory = [name, arrays / 1e6, peak / 1e6, (peak - size) / arrays]
    print(*map(common.number, row[1:]), flush=True)
    return row, memory


def measure_binary(name):
    text = problems.data_file(name)
    path = problems.scratch() / f"{name}.fbin"
    subprocess.run([CLI, "convert", "--quiet", text, path], check=True)
    rows = []
    for threads in (1, 2):
        turns = Turns(SHORT_ROUNDS, ours=lambda: probe("pass", path, threads), touch=lambda: probe("touch", path, threads))
        peak = common.peak_memory(PROBE, "pass", path, threads)
        rows.append([name, str(threads), path.stat().st_size / 1e6, 1e3 * turns.median("ours", "open"),
                     1e3 * turns.median("ours", "first"), turns.ratio(("ours", "first"), ("touch", "first")),
                     turns.ratio(("ours", "second"), ("touch", "second")), peak / turns.median("ours", "bytes")])
    print(*map(common.number, rows[-1][2:]), flush=True)
    return rows


def measure_streams(name):
    """Compressed text, and other formats, in units of reading the plain text."""
    text = problems.data_file(name)
    cells = [name]
    for extension in ("svm.gz", "svm.zst", "svm.bz2", "svm.xz", "mtx"):
        path = problems.scratch() / f"{name}.{extension}"
        subprocess.run([CLI, "convert", "--quiet", text, path], check=True)
        turns = Turns(STREAM_ROUNDS, packed=lambda: probe("read", path, 2), plain=lambda: probe("read", text, 2))
        cells.append(turns.ratio(("packed", "read"), ("plain", "read")))
        path.unlink()
    return cells


# --- the text ---

# What was aimed at: table, column, at least (>=) or at most (<=), how much, why a row that misses does.
GOALS = (
    ("text", "1 / 2", ">=", 1.5, "the cause was not measured"),
    ("text", "LIBLINEAR / 1", ">=", 8, "the cause was not measured"),
    ("text", "scikit-learn / 1", ">=", 10, "the cause was not measured"),
    ("memory", "(peak - file) / arrays", "<=", 1.2, "the program itself is in it, which weighs most next to the smallest arrays"),
    ("binary", "first / touch", "<=", 1.6, "the first pass hashes every byte, checks every entry and computes the norms, with the bytes of a "
     "block in a core's own cache; rows of 13 entries, as kddcup99-10pct has them, leave the most to do besides"),
    ("binary", "second / touch again", "<=", 1.3, "these passes take a few milliseconds, and a second thread speeds them up less than it does "
     "the touching; the cause was not measured"),
)

SIGNS = {">=": "≥", "<=": "≤"}

HEADERS = {
    "text": ["data", "MB", "1", "MB/s", "2", "1 / 2", "LIBLINEAR / 1", "scikit-learn / 1", "1 / touch", "1 / copy"],
    "memory": ["data", "arrays MB", "peak MB", "(peak - file) / arrays"],
    "binary": ["data", "threads", "MB", "open ms", "first ms", "first / touch", "second / touch again", "peak / arrays"],
    "streams": ["data", "gzip", "zstd", "bzip2", "xz", "mtx"],
}


def with_goals(name, tables):
    """The table, its goals as its last row, and a sentence about every goal."""
    header, rows = HEADERS[name], tables[name]
    goals = {column: f"**{SIGNS[sign]} {bound}**" for table, column, sign, bound, _ in GOALS if table == name}
    last = ["**goal**"] + [goals.get(column, "") for column in header[1:]]
    text = [common.table(header, [*rows, last])]
    for table, column, sign, bound, reason in GOALS:
        if table != name:
            continue
        at = header.index(column)
        threads = lambda row: f", threads {row[1]}" if header[1] == "threads" else ""
        missed = [f"{row[0]} ({number_of(row[at])}{threads(row)})" for row in rows
                  if (float(row[at]) > bound if sign == "<=" else float(row[at]) < bound)]
        verdict = f"missed by {len(missed)} of {len(rows)} rows: {', '.join(missed)}: {reason}" if missed else "met by every row"
        goal = f"*{column}*, at {'most' if sign == '<=' else 'least'} {bound}: {verdict}."
        text.append("\n" + textwrap.fill(goal, 120, break_on_hyphens=False))
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
    text = [header, with_goals("text", tables)]
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
One run of {time.monotonic() - begin:.0f} seconds, files in the page cache; {ROUNDS} rounds in turns, {SHORT_ROUNDS} for `.fbin`, {STREAM_ROUNDS} for streams and
for the peers. Times are medians, ratios the medians of those of the single rounds. After a peer's process of
seconds the system is still busy with what that has left, and two of our reads are not counted."""
    return preface, tables


def recorded():
    """What the document says was measured, digits as they stand there."""
    section = common.read_section("data")
    preface = section.split("## Reading data\n\n", 1)[1].split("\n\n", 1)[0]
    return preface, {name: [row for row in common.read_table(section, header) if row[0] != "**goal**"]
                     for name, header in HEADERS.items()}


common.write_section("data", report(*(recorded() if RENDER else measure())))
