"""Runs every command of the documentation: the blocks marked `sh`, file by file, each file in a folder of its own."""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["FENCHEL_SOURCE_DIR"])
CLI = Path(os.environ["FENCHEL_CLI"])


def blocks(text):
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class DocumentedCommands(unittest.TestCase):
    def test_every_block_runs(self):
        documents = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
        count = 0
        for document in documents:
            script = "\n".join(blocks(document.read_text(encoding="utf-8")))
            if not script:
                continue
            count += 1
            with self.subTest(document=document.name), tempfile.TemporaryDirectory() as folder:
                environment = dict(os.environ, PATH=f"{CLI.parent}:{os.environ['PATH']}")
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment,
                                      capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, f"{document.name}:\n{done.stdout}{done.stderr}")
        self.assertGreater(count, 0, "no document has a block marked sh")

    def test_the_demo_runs(self):
        done = subprocess.run([str(SOURCE / "tools" / "demo.sh")], cwd=SOURCE, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("certif", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
