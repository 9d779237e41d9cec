"""What the fuzzers have tried and found, from the logs that `./dev fuzz` leaves. For bench/data.py."""

import re

import _common as common

HEADER = ["target", "seconds", "executions", "findings", "found before, and mended"]
LOGS = common.SOURCE / "build" / "asan" / "fuzz-logs"

# What ends a run, as the log says it, and what it is called.
MARKERS = (
    (r"ERROR: libFuzzer: timeout", "timeout"),
    (r"ERROR: libFuzzer: out-of-memory", "out of memory"),
    (r"ERROR: libFuzzer: deadly signal", "crash"),
    (r"ERROR: AddressSanitizer: ([\w-]+)", "AddressSanitizer"),
    (r"ERROR: LeakSanitizer", "leak"),
    (r"runtime error: (.+)", "undefined behaviour"),
    (r"SUMMARY: \w+: ([\w-]+)", "crash"),
    (r"ALARM: working on the last Unit", "slow unit"),
    (r"Test unit written to (?!.*slow-unit)", "an input that was kept"),
)

# Found by earlier runs and mended since, which the logs no longer show.
MENDED = {"binary": "a damaged label in a float32 copy escaped `--verify`"}


def findings(text):
    found = [f"{name}: {match[1]}" if match.groups() else name
             for pattern, name in MARKERS if (match := re.search(pattern, text))]
    slow = [int(seconds) for seconds in re.findall(r"^Slowest unit: (\d+) s", text, re.M)]
    if slow:
        found.append(f"an input that took {max(slow)} s beside other work")
    return found[0] if found else None  # the first says most


def row(target):
    """Target, seconds, executions, findings; a run that was cut short, or none, is called that."""
    log = LOGS / f"{target}.log"
    mended = MENDED.get(target, "")
    if not log.exists():
        return [target, "", "", "not run", mended]
    text = log.read_text(errors="replace")
    done = re.search(r"^Done (\d+) runs in (\d+) second", text, re.M)
    counts = re.findall(r"^#(\d+)\t", text, re.M)
    runs = int(done[1]) if done else int(counts[-1]) if counts else 0
    found = findings(text) or ("none" if done else "none, but did not finish")
    return [target, done[2] if done else "", f"{runs:,}", found, mended]


NOTHING = ("none", "none, but did not finish", "not run")


def longest(recorded, latest):
    """No run, or one of seconds, as the tests make it, takes a longer one's place unless it has found something."""
    length = lambda cells: int(cells[1]) if cells[1].isdigit() else 0
    if recorded is None or latest[3] not in NOTHING or length(latest) >= length(recorded):
        return latest
    return [*recorded[:4], latest[4]]


def section():
    sources = sorted((common.SOURCE / "tests" / "fuzz").glob("*_fuzz.cpp"))
    before = common.read_section("data")
    recorded = {cells[0]: cells for cells in common.read_table(before, HEADER)} if common.table(HEADER, []) in before else {}
    targets = [source.stem.removesuffix("_fuzz") for source in sources]
    rows = [longest(recorded.get(target), row(target)) for target in targets]
    return ("\n### Fuzzing\n\nlibFuzzer with address and undefined-behaviour sanitizers, several targets at once on two cores, each "
            "with its\nlatest log, or that of a longer run before it:\n\n"
            + common.table(HEADER, rows))
