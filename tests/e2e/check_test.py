"""linnet check and linnet explain, through the daemon."""

import json
import unittest

import harness

MANIFEST = '[package]\nname = "{}"\nversion = "0.1.0"\nlanguage = "0.1"\n'


class CheckTest(harness.DaemonTest):
    def test_nothing_wrong(self):
        path = self.write("small.linnet", harness.small_model())
        daemon = self.start()
        result = self.run_client("check", path, daemon=daemon)
        self.assertEqual((result.returncode, result.out), (0, "0 errors, 0 warnings\n"), result.err)
        result = self.run_client("check", "--json", path, daemon=daemon)
        self.assertEqual(
            json.loads(result.out),
            {"version": 1, "diagnostics": [], "summary": {"errors": 0, "warnings": 0}},
        )

    def test_errors_of_a_folder(self):
        self.write("net/linnet.toml", MANIFEST.format("net"))
        self.write("net/src/lib.linnet", "module net\nuse crate.a::{f}\npub fn g() -> i64 { return f() }\n")
        self.write("net/src/a.linnet", "module net.a\npub fn f() -> i64 { return missing }\n")
        self.write("net/src/b.linnet", "module net.b\npub fn h( {\n")
        result = self.run_client("check", "--json", self.folder / "net", daemon=self.start())
        self.assertEqual(result.returncode, 1, result.err)
        self.assertEqual(result.out.count("\n"), 1)
        document = json.loads(result.out)
        found = {(d["code"], d["location"]["file"]) for d in document["diagnostics"]}
        self.assertIn(("E1201", "src/a.linnet"), found)
        self.assertIn(("E1101", "src/b.linnet"), found)
        # The module that two files reach is reported once.
        self.assertEqual(len(document["diagnostics"]), document["summary"]["errors"])
        self.assertEqual([d["code"] for d in document["diagnostics"]].count("E1201"), 1)

    def test_warnings_fail_only_when_strict(self):
        path = self.write("warn.linnet", "module warn\nuse std.nn.linear::{linear}\npub const N = 1\n")
        daemon = self.start()
        result = self.run_client("check", path, daemon=daemon)
        self.assertEqual(result.returncode, 0, result.err)
        self.assertIn("warning[W1001]", result.out)
        self.assertEqual(self.run_client("check", "--strict", path, daemon=daemon).returncode, 1)

    def test_mistakes(self):
        daemon = self.start()
        for words, text in (
            (["check"], "which sources?"),
            (["check", self.folder / "none.linnet"], "No such file"),
            (["check", self.folder], "without a `.linnet` file"),
            (["explain"], "which model?"),
            (["explain", "gpt2", "--numerics", "slow"], "exact, equivalent or fast"),
        ):
            result = self.run_client(*words, daemon=daemon)
            self.assertEqual((result.returncode, result.out), (2, ""), words)
            self.assertIn(text, result.err)

    def test_explain(self):
        daemon = self.start()
        result = self.run_client("explain", "gpt2", "--json", daemon=daemon)
        self.assertEqual(result.returncode, 0, result.err)
        calls = {call["op"]: call for call in json.loads(result.out)["calls"]}
        self.assertEqual(calls["std.nn.activations::gelu"]["count"], 12)
        self.assertEqual(
            calls["std.nn.activations::gelu"]["implementation"], "torch.nn.functional.gelu(tanh)"
        )
        result = self.run_client("explain", "gpt2", "--numerics", "exact", daemon=daemon)
        self.assertIn("std.nn.activations::gelu  x 12\n  its own body", result.out)


if __name__ == "__main__":
    unittest.main()
