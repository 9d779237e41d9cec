"""The table of the fuzzers: what a log says is what it shows."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("FENCHEL_SOURCE_DIR", Path(__file__).parent.parent.parent))
sys.path.insert(0, str(SOURCE / "bench"))
import _fuzzing as fuzzing  # noqa: E402

START = "INFO: Seed: 1\n#2\tINITED cov: 5\n#1024\tpulse  cov: 9\n"
DONE = "#4096\tDONE   cov: 9\nDone 4096 runs in 601 second(s)\nstat::number_of_executed_units: 4096\n"
LOGS = {
    "done": (START + DONE, ["601", "4,096", "none"]),
    "cut": (START, ["", "1,024", "none, but did not finish"]),
    "empty": ("", ["", "0", "none, but did not finish"]),
    "slow": (START + "ALARM: working on the last Unit for 20 seconds\n==1== ERROR: libFuzzer: timeout after 20 seconds\n",
             ["", "1,024", "timeout"]),
    "large": (START + "==1== ERROR: libFuzzer: out-of-memory (used: 2060Mb; limit: 2048Mb)\n", ["", "1,024", "out of memory"]),
    "abort": (START + "==1== ERROR: libFuzzer: deadly signal\nSUMMARY: libFuzzer: deadly signal\n", ["", "1,024", "crash"]),
    "address": (START + "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\nSUMMARY: AddressSanitizer: "
                "heap-buffer-overflow f.cpp\n", ["", "1,024", "AddressSanitizer: heap-buffer-overflow"]),
    "undefined": (START + "f.cpp:3:4: runtime error: signed integer overflow\nSUMMARY: UndefinedBehaviorSanitizer: x\n",
                  ["", "1,024", "undefined behaviour: signed integer overflow"]),
}


class FuzzTable(unittest.TestCase):
    def test_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            fuzzing.LOGS = Path(folder)
            for name, (text, expected) in LOGS.items():
                (fuzzing.LOGS / f"{name}.log").write_text(text)
                self.assertEqual(fuzzing.row(name)[1:4], expected, name)
            self.assertEqual(fuzzing.row("absent")[1:4], ["", "", "not run"])

    def test_a_short_run_does_not_hide_a_long_one(self):
        long, short = ["t", "601", "9,000", "none"], ["t", "6", "90", "none", "mended"]
        for latest in (short, ["t", "", "90", "none, but did not finish", "mended"], ["t", "", "", "not run", "mended"]):
            self.assertEqual(fuzzing.longest(long, latest), [*long, "mended"])
            self.assertEqual(fuzzing.longest([*long, "outdated"], latest), [*long, "mended"])
            self.assertEqual(fuzzing.longest(None, latest), latest)
        for latest in (["t", "6", "90", "leak", ""], ["t", "", "90", "crash", ""], ["t", "601", "9,001", "none", ""]):
            self.assertEqual(fuzzing.longest(long, latest), latest)

    def test_every_target_is_listed(self):
        with tempfile.TemporaryDirectory() as folder:
            fuzzing.LOGS = Path(folder)
            for source in (SOURCE / "tests" / "fuzz").glob("*_fuzz.cpp"):
                self.assertIn(f"| {source.stem.removesuffix('_fuzz')} | ", fuzzing.section())


if __name__ == "__main__":
    unittest.main()
