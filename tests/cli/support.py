"""What the tests of the command line share. Not a test itself."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

CLI = os.environ.get("FENCHEL_CLI")
SOURCE = Path(os.environ.get("FENCHEL_SOURCE_DIR", Path(__file__).parent.parent.parent))

if not CLI or not os.access(CLI, os.X_OK):
    raise unittest.SkipTest("FENCHEL_CLI does not name an executable")

SMALL = "".join(f"{1 if i % 2 else -1} 1:{i % 2 + 0.1 * i} 2:{1 - 0.2 * (i % 5)} 4:{0.3 * (i % 3)}\n"
                for i in range(24))


class CliTest(unittest.TestCase):
    """Every test works in a directory of its own."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="fenchel-")
        self.addCleanup(holder.cleanup)
        self.dir = Path(holder.name)

    def write(self, name, content):
        path = self.dir / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path

    def small(self):
        return self.write("small.svm", SMALL)

    def run_cli(self, *args, stdin=None, timeout=120):
        return subprocess.run([CLI, *map(str, args)], cwd=self.dir, input=stdin, capture_output=True, text=True,
                              timeout=timeout)

    def ok(self, *args, code=0, **kwargs):
        done = self.run_cli(*args, **kwargs)
        self.assertEqual(done.returncode, code, f"{args}: {done.stderr}")
        return done.stdout

    def json(self, *args, code=0, **kwargs):
        """One JSON object on standard output, all of whose numbers are finite."""
        def refuse(word):
            raise AssertionError(f"{args}: {word} in JSON")
        text = self.ok(*args, "--json", code=code, **kwargs)
        self.assertEqual(text.count("\n"), 1, text)
        return json.loads(text, parse_constant=refuse)

    def refused(self, code, *args, says=(), **kwargs):
        """Exit code `code`, nothing on standard output, one sentence on standard error with the words of `says`."""
        done = self.run_cli(*args, **kwargs)
        self.assertEqual(done.returncode, code, f"{args}: {done.stdout}{done.stderr}")
        self.assertEqual(done.stdout, "", args)
        self.assertRegex(done.stderr, r"\Afenchel: [^\n]+\n\Z", args)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, done.stderr, args)
        return done.stderr

    def files(self):
        """Everything in the directory, with its content."""
        return {path.name: path.read_bytes() for path in self.dir.iterdir() if path.is_file()}
