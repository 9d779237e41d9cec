"""What the benchmarks share: the way to tests/peers, peak memory, tables, bench/results and docs/benchmarks.md."""

import json
import math
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("FENCHEL_SOURCE_DIR", Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(SOURCE / "tests" / "peers"))
DOCUMENT = SOURCE / "docs" / "benchmarks.md"
RESULTS = SOURCE / "bench" / "results"  # raw numbers and plots

HEAD = """# Benchmarks

Written by the scripts in `bench/` (`./dev bench [NAME]`); every section between two markers is replaced as a whole when
its script runs. Times of one run on one machine are noisy: read the ratios, and mistrust those near 1.
"""


def require():
    """Ends the program politely where there is nothing to measure."""
    try:
        import problems
        problems.require_environment()
    except unittest.SkipTest as reason:
        print(f"nothing measured: {reason}")
        sys.exit(0)


# --- measuring ---

def fastest(measure, seconds, enough=0.6, most=3):
    """The result of `measure()` with the least `seconds(result)`; short ones are repeated, long ones are not."""
    best, spent = None, 0.0
    for _ in range(most):
        result = measure()
        spent += seconds(result)
        if best is None or seconds(result) < seconds(best):
            best = result
        if spent > enough:
            break
    return best


# A child starts with the peak memory of the process that made it, so that process must be a small one.
LAUNCHER = """
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""


def peak_memory(*command):
    """Bytes that a program held at most (ru_maxrss); below about 10 MB it is the launcher's."""
    launcher = [sys.executable, "-S", "-c", LAUNCHER]
    done = subprocess.run([*launcher, *map(str, command)], capture_output=True, text=True, check=True)
    code, peak = map(int, done.stdout.split())
    if code != 0:
        raise RuntimeError(f"{command}: exit code {code}: {done.stderr}")
    return peak


def command():
    """How this run was started, without the directory of the data."""
    return " ".join(["FENCHEL_DATA=DIR ./dev bench", Path(sys.argv[0]).stem, *sys.argv[1:]])


def machine():
    """Processor, cores and compiler, from what the system and the build directory say."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*:\s*(.+)", text)
    compiler = "an unknown compiler"
    cache = Path(os.environ["FENCHEL_CLI"]).parent / "CMakeCache.txt"
    if cache.exists():
        entries = dict(re.findall(r"^(CMAKE_CXX_COMPILER|CMAKE_BUILD_TYPE):\w+=(.*)$", cache.read_text(), re.M))
        version = subprocess.run([entries["CMAKE_CXX_COMPILER"], "--version"], capture_output=True, text=True).stdout
        compiler = f"{version.splitlines()[0]}, {entries.get('CMAKE_BUILD_TYPE', '')} build"
    return f"{model[1] if model else 'unknown processor'}, {os.cpu_count()} cores; {compiler}"


# --- writing ---

def number(value):
    """Three digits for people."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e4:
        return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"
    return f"{value:.1e}"


def table(header, rows):
    def line(cells):
        return "| " + " | ".join(cell if isinstance(cell, str) else number(cell) for cell in cells) + " |"
    return "\n".join([line(header), "|" + "---|" * len(header), *map(line, rows)])


def read_table(text, header):
    """The cells of the table with this header, as they stand in `text`."""
    lines = text.split(table(header, []), 1)[1].lstrip("\n").splitlines()
    end = next((k for k, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [line.strip("| ").split(" | ") for line in lines[:end]]


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None


def read_section(name):
    return DOCUMENT.read_text().split(f"<!-- begin {name} -->", 1)[1].split(f"<!-- end {name} -->", 1)[0]


def write_result(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def write_json(path, content):
    """A line for every entry of the outermost list or object."""
    if isinstance(content, list):
        lines, (begin, end) = [json.dumps(entry) for entry in content], "[]"
    else:
        lines, (begin, end) = [f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in content.items()], "{}"
    write_result(path, begin + "\n" + ",\n".join(lines) + "\n" + end + "\n")


def replace_part(heading, text):
    """Puts `text`, which begins with the heading, in the place of the part of docs/benchmarks.md below it."""
    before, rest = DOCUMENT.read_text().split(f"{heading}\n", 1)
    DOCUMENT.write_text(f"{before}{text.strip()}\n\n### {rest.split(chr(10) + '### ', 1)[1]}")
    print(f"wrote '{heading}' of {DOCUMENT.relative_to(SOURCE)}")


def write_section(name, text):
    """Puts `text` between the markers of `name` in docs/benchmarks.md and leaves all other sections alone."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    section = f"{begin}\n{text.strip()}\n{end}"
    content = DOCUMENT.read_text() if DOCUMENT.exists() else HEAD
    if begin in content and end in content:
        before, rest = content.split(begin, 1)
        content = before + section + rest.split(end, 1)[1]
    else:
        content = f"{content.rstrip()}\n\n{section}\n"
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(content)
    print(f"wrote section '{name}' of {DOCUMENT.relative_to(SOURCE)}")
