"""Many sizes at once, as a person asks for them."""

import csv
import io
import json
import unittest
import xml.etree.ElementTree

import harness

LLAMA = ("sweep", "llama-3.1-8b-instruct")


class SweepTest(harness.DaemonTest):
    def ask(self, *words, status=0, **keywords):
        if not self.daemons:
            self.start()
        result = self.run_client(*words, daemon=self.daemons[0])
        self.assertEqual(result.returncode, status, result.err)
        return result

    def test_points_are_those_of_memory(self):
        lines = self.ask(*LLAMA, "--batch", "1..4x2", "--seq-len", "128,1k", "--jsonl").out.splitlines()
        self.assertEqual(len(lines), 6)
        for line in map(json.loads, lines):
            report = json.loads(
                self.ask("memory", LLAMA[1], "--batch", line["batch"], "--seq-len", line["context"], "--json").out)
            self.assertEqual((line["graph"], line["expected"]), (report["peak"]["graph"], report["peak"]["expected"]))

    def test_variants_and_devices(self):
        text = self.ask("sweep", "tinyllama-1.1b-chat", "--entry", "loss_packed", "--training", "--seq-len", "1k..4kx2",
                        "--checkpoint", "none", "--checkpoint", "block", "--pipeline-parallel", "1,2", "--csv", "--time",
                        "--device", "l4,h100-80gb").out
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(rows), 3 * 2 * 2)
        self.assertEqual({row["layout"] for row in rows}, {"1 device", "PP 2 x 2 1f1b"})
        for row in rows:
            self.assertLess(float(row["seconds h100-80gb"]), float(row["seconds l4"]))
            self.assertEqual(row["fits h100-80gb"], "yes")
            time = json.loads(self.ask("time", "tinyllama-1.1b-chat", "--entry", "loss_packed", "--training", "--seq-len",
                                       row["context"], "--checkpoint", row["checkpoint"], "--device", "l4", "--json",
                                       *(("--pipeline-parallel", 2) if row["layout"].startswith("PP") else ())).out)
            self.assertAlmostEqual(float(row["seconds l4"]), time["steps"][0]["seconds"], delta=1e-5)

    def test_says_whose_rates(self):
        result = self.ask(*LLAMA, "--batch", 1, "--seq-len", 8, "--device", "l4,h100-80gb", "--time")
        self.assertRegex(result.err, r"rates of l4: .* scaled by the data sheets\n")
        self.assertIn("rates of h100-80gb: measured: ", result.err)

    def test_a_variant_that_cannot_be(self):
        result = self.ask(*LLAMA, "--entry", "decode_rows", "--batch", "1,2", "--cache-len", 64, "--pipeline-parallel", "1,2",
                          "--jsonl")
        self.assertEqual(len(result.out.splitlines()), 2)
        self.assertIn("left out: PP 2 x 2 1f1b: the entry reads or writes the state", result.err)

    def test_a_million_points(self):
        text = self.ask(*LLAMA, "--batch", "1..1000", "--seq-len", "1..1000", "--csv").out
        self.assertEqual(text.count("\n"), 1_000_001)
        self.assertIn("\n,1 device,,1000,1000,", text)

    def test_plot(self):
        path = self.write("peaks.svg", "")
        self.ask(*LLAMA, "--batch", "1..64x2", "--seq-len", "1k,8k", "--device", "l4,h100-80gb", "--plot", path)
        with open(path) as file:
            root = xml.etree.ElementTree.fromstring(file.read())
        self.assertEqual(len(root.findall("{http://www.w3.org/2000/svg}polyline")), 2)

    def test_bad_input(self):
        for words, want in (
            (LLAMA, "which sizes?"),
            ((*LLAMA, "--batch", "4..1", "--seq-len", 8), "no range of sizes"),
            ((*LLAMA, "--batch", 1), "(--seq-len N)"),
            ((*LLAMA, "--batch", 1, "--seq-len", 8, "--time"), "--time needs --device"),
            ((*LLAMA, "--batch", 1, "--seq-len", 8, "--device", "l5"), "did you mean `l4`"),
            ((*LLAMA, "--batch", 1, "--seq-len", 8, "--csv", "--jsonl"), "give one"),
            ((*LLAMA, "--batch", 1, "--seq-len", 8, "--json"), "--jsonl or --csv"),
            ((*LLAMA, "--batch", 1, "--seq-len", 8, "--dtype", "f31"), "f31"),
            ((*LLAMA, "--batch", 1, "--seq-len", 8, "--tensor-parallel", "1,x"), "--tensor-parallel"),
        ):
            self.assertIn(want, self.ask(*words, status=2).err)
        self.assertIn("at most 1048576 sizes", self.ask(*LLAMA, "--batch", "1..2m", "--seq-len", 8, status=2).err)
        result = self.ask(*LLAMA, "--batch", "1..1000000", "--seq-len", "1..1000", status=1)
        self.assertIn("more than the 100000000 points", result.err)
        self.assertIn("split it", result.err)


if __name__ == "__main__":
    unittest.main()
