"""Tests of the checks themselves: each must be able to fail.

Usage: lint_test.py ROOT
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()


def run(script, root, *arguments):
    return subprocess.run(
        [sys.executable, ROOT / "tests/lint" / script, root, *arguments],
        capture_output=True,
        text=True,
    )


class LintTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree(ROOT / "proto", self.root / "proto")
        shutil.copytree(ROOT / "tests/lint", self.root / "tests/lint")
        shutil.copytree(ROOT / "tests/golden/api", self.root / "tests/golden/api")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def test_layers(self):
        self.write("core/expr/a.h", '#include "core/base/check.h"\n')
        self.assertEqual(run("check_layers.py", self.root).returncode, 0)
        for line, error in {
            '#include "core/trace/tracer.h"': "core/expr must not include core/trace",
            '#include "grpcpp/server.h"': "core/expr must not include grpcpp",
            '#include "tests/support/x.h"': "nothing may include tests",
            '#include "server/rogue/x.h"': "core/expr must not include server",
        }.items():
            self.write("core/expr/b.cc", line + "\n")
            result = run("check_layers.py", self.root)
            self.assertIn(error, result.stderr)
        self.write("core/rogue/b.cc", "\n")
        self.assertIn("core/rogue is not in", run("check_layers.py", self.root).stderr)

    def test_text(self):
        guard = "LINNET_CORE_EXPR_A_H_"
        good = f"#ifndef {guard}\n#define {guard}\n#endif\n"
        self.write("core/expr/a.h", good)
        self.assertEqual(run("check_text.py", self.root).stderr, "")
        for text in ["// TO" + "DO\n", "a\tb\n", "a \n", "using name" + "space x;\n", "x"]:
            self.write("core/expr/b.cc", text)
            self.assertEqual(run("check_text.py", self.root).returncode, 1, text)
        self.write("core/expr/b.cc", "\n")
        self.write("core/expr/a.h", good.replace("EXPR", "LANG"))
        self.assertIn(guard, run("check_text.py", self.root).stderr)

    def edit_api(self, old, new):
        path = self.root / "proto/linnet/v1/planner.proto"
        text = (ROOT / "proto/linnet/v1/planner.proto").read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def test_api(self):
        self.assertEqual(run("check_api.py", self.root).stderr, "")
        self.edit_api("int64 naive_bytes = 1;", "int64 naive_bytes = 9;")
        self.assertIn("breaks clients", run("check_api.py", self.root).stderr)
        self.edit_api("int64 naive_bytes = 1;", "int32 naive_bytes = 1;")
        self.assertIn("breaks clients", run("check_api.py", self.root, "--update").stderr)
        self.edit_api("int64 naive_bytes = 1;", "reserved 1;")
        self.assertIn("not recorded", run("check_api.py", self.root).stderr)
        self.edit_api("message Formula {", "message Formula {\n  int64 more = 7;")
        self.assertIn("not recorded", run("check_api.py", self.root).stderr)
        self.assertEqual(run("check_api.py", self.root, "--update").returncode, 0)
        self.assertEqual(run("check_api.py", self.root).returncode, 0)


if __name__ == "__main__":
    unittest.main()
