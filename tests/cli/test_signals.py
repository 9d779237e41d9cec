"""Ctrl-C and SIGTERM keep the best model so far, with its true gap; progress appears on a terminal only."""

import json
import os
import pty
import signal
import subprocess
import time
import unittest

from support import CLI, CliTest

# newton would end within a second.
LONG = ["--solver", "sdca", "--loss", "hinge", "--lambda", "1e-7", "--tol", "1e-14", "--max-passes", "1e9"]


class Interrupted(CliTest):
    def setUp(self):
        super().setUp()
        self.ok("generate", "d", "--rows", "5000", "--features", "500", "--quiet")

    def start(self, *options):
        return subprocess.Popen([CLI, "train", "d", "m", *LONG, *options], cwd=self.dir, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def stop(self, process, number):
        try:
            process.send_signal(number)
            return process.communicate(timeout=60)
        finally:
            process.kill()

    def check(self, number):
        process = self.start("--json", "--verbose")
        while "passes" not in process.stderr.readline():  # until there is something to keep
            self.assertIsNone(process.poll())
        out, err = self.stop(process, number)
        self.assertEqual(process.returncode, 130, err)
        report = json.loads(out)
        self.assertEqual(report["status"], "interrupted")
        self.assertGreater(report["gap"], 0)
        verdict = self.json("certify", "d", "m")
        self.assertIs(verdict["certified"], True)
        self.assertLessEqual(verdict["gap"], report["gap"] + verdict["rounding"])
        self.assertEqual(set(self.files()), {"d", "m"})

    def test_ctrl_c(self):
        self.check(signal.SIGINT)

    def test_terminate(self):
        self.check(signal.SIGTERM)

    def test_while_loading_nothing_is_written(self):
        process = subprocess.Popen([CLI, "train", "-", "m"], cwd=self.dir, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        out, _ = self.stop(process, signal.SIGINT)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertEqual(set(self.files()), {"d"})


class Threads(CliTest):
    def test_no_more_than_asked_for(self):
        self.ok("generate", "d", "--rows", "20000", "--features", "500", "--quiet")
        for count in (1, 2):
            process = subprocess.Popen([CLI, "train", "d", "m", *LONG, "--verbose", "--threads", str(count)], cwd=self.dir,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                while "passes" not in process.stderr.readline():  # until all that works in parallel has worked once
                    self.assertIsNone(process.poll())
                running = len(os.listdir(f"/proc/{process.pid}/task"))
            finally:
                process.kill()
                process.communicate()
            self.assertLessEqual(running, count)


class Progress(CliTest):
    def run_on_terminal(self, *options):
        """What a fit of about three seconds writes to a terminal as its standard error."""
        self.ok("generate", "d", "--rows", "5000", "--features", "500", "--quiet")
        master, slave = pty.openpty()
        process = subprocess.Popen([CLI, "train", "d", "m", *LONG, "--time-limit", "3", *options], cwd=self.dir,
                                   stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        shown = b""
        try:
            while chunk := os.read(master, 4096):
                shown += chunk
        except OSError:  # how Linux says that the other side is closed
            pass
        os.close(master)
        self.assertEqual(process.wait(timeout=60), 4)
        return shown.decode()

    def test_line_is_rewritten_in_place(self):
        shown = self.run_on_terminal("--json")
        self.assertGreater(shown.count("\r"), 3)
        self.assertRegex(shown, r"passes, primal \S+, dual \S+, gap \S+")
        self.assertNotIn("\n", shown)

    def test_quiet_shows_none(self):
        self.assertEqual(self.run_on_terminal("--quiet"), "")


if __name__ == "__main__":
    unittest.main()
