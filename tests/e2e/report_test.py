"""What a person sees: reports, documents, mistakes, exit statuses."""

import json
import unittest

import harness

LLAMA = ("memory", "llama-3.1-8b-instruct", "--batch", 1, "--seq-len", 8192)


class ReportTest(harness.DaemonTest):
    def test_report(self):
        result = self.run_client(*LLAMA, daemon=self.start())
        self.assertEqual(result.returncode, 0, result.err)
        self.assertEqual(result.err, "")
        lines = result.out.splitlines()
        self.assertEqual(lines[0], "Weights                  14.96 GiB  [exact]")
        self.assertIn("-" * 36, lines)
        self.assertIn("Graph peak               17.98 GiB", lines)
        self.assertIn("Expected peak            18.69 GiB  [estimated]", lines)
        self.assertIn("Peak at step 1603: linear in `lm_head`.", lines)

    def test_json(self):
        daemon = self.start()
        result = self.run_client(*LLAMA, "--json", daemon=daemon, CUBLAS_WORKSPACE_CONFIG=":1024:2")
        self.assertEqual(result.returncode, 0, result.err)
        document = json.loads(result.out)
        self.assertEqual(document["version"], 1)
        self.assertEqual(document["configuration"]["cublas_workspace_config"], ":1024:2")
        self.assertEqual(document["configuration"]["batch"], 1)
        components = {item["name"]: item for item in document["components"]}
        self.assertEqual(components["Weights"]["bytes"], 16060522496)
        self.assertEqual(components["KV cache"]["bytes"], 1 << 30)
        # The environment of the client decides, not the server's.
        self.assertEqual(components["cuBLAS workspace"]["bytes"], 2 << 20)
        counted = sum(c["bytes"] for c in components.values() if c["bytes"] is not None)
        self.assertEqual(document["peak"]["expected"], counted)

    def test_why(self):
        daemon = self.start()
        result = self.run_client(*LLAMA, "--why", daemon=daemon)
        self.assertEqual(result.returncode, 0, result.err)
        self.assertIn("Over the step, 1606 positions:", result.out)
        self.assertIn("In memory at the peak, step 1603: linear in `lm_head`:", result.out)
        training = ("memory", "tinyllama-1.1b-chat", "--entry", "loss_packed", "--training", "--seq-len", 1024, "--json", "--why")
        result = self.run_client(*training, "--checkpoint", "none", "--checkpoint", "block", daemon=daemon)
        self.assertEqual(result.returncode, 0, result.err)
        none, block = (document["timeline"] for document in json.loads(result.out))
        self.assertLess(none["positions"], block["positions"])
        for timeline in (none, block):
            # The tensors named are those that the categories count.
            at = timeline["peak_position"]
            named = sum(tensor["bytes"] for tensor in timeline["live_at_peak"]) + timeline["more"]["bytes"]
            self.assertEqual(named, sum(bytes[at] for bytes in timeline["categories"].values()))

    def test_several_devices(self):
        daemon = self.start()
        pipeline = ("memory", "tinyllama-1.1b-chat", "--batch", 8, "--seq-len", 2048, "--pipeline-parallel", 2,
                    "--microbatches", 4)
        result = self.run_client(*pipeline, daemon=daemon)
        self.assertEqual(result.returncode, 0, result.err)
        self.assertRegex(result.out, r"stage 0 .* embedding, layers.0-10")
        self.assertIn("Of stage 1, which needs the most:", result.out)
        document = json.loads(self.run_client(*pipeline, "--json", daemon=daemon).out)
        self.assertEqual([device["name"] for device in document["devices"]], ["stage 0", "stage 1"])
        self.assertEqual(document["peak"]["expected"], document["devices"][1]["expected_peak"])
        self.assertEqual(document["configuration"]["parallel"]["microbatches"], 4)
        split = self.run_client(*LLAMA, "--tensor-parallel", 2, "--sequence-parallel", daemon=daemon)
        self.assertIn("NCCL communicator", split.out)
        self.assertIn("sequence parallel: ", split.out)
        experts = self.run_client("memory", "gpt-oss-20b", "--batch", 1, "--seq-len", 64, "--expert-parallel", 4, "--json",
                                  daemon=daemon)
        self.assertEqual(json.loads(experts.out)["configuration"]["parallel"]["expert"], 4)
        step = ("memory", "tinyllama-1.1b-chat", "--entry", "loss_packed", "--training", "--seq-len", 4096,
                "--pipeline-parallel", 2, "--schedule", "interleaved-1f1b")
        self.assertIn("embedding, layers.0-4, layers.11-16", self.run_client(*step, daemon=daemon).out)
        wrong = self.run_client(*pipeline, "--stages", "layer.3", daemon=daemon)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean `layers.3`", wrong.err)

    def test_local_file(self):
        path = self.write("small.linnet", harness.small_model())
        result = self.run_client("memory", path, "--batch", 4, "--json", daemon=self.start())
        self.assertEqual(result.returncode, 0, result.err)
        weights = json.loads(result.out)["components"][0]
        self.assertEqual(weights["bytes"], 2 * 2 * 64 * 256 * 4)

    def test_package(self):
        self.write("net/linnet.toml", '[package]\nname = "net"\nversion = "0.1.0"\nlanguage = "0.1"\n'
                   '[dependencies]\nparts = { path = "../parts" }\n')
        self.write("parts/linnet.toml", '[package]\nname = "parts"\nversion = "0.1.0"\nlanguage = "0.1"\n')
        self.write("parts/src/size.linnet", "module parts.size\n\npub const WIDTH = 32\n")
        model = harness.small_model().replace("use std", "use parts.size::{WIDTH}\n\nuse std")
        path = self.write("net/src/lib.linnet", model.replace("<64, 256, f32>", "<64, WIDTH * 8, f32>"))
        result = self.run_client("memory", path, "--batch", 4, "--json", daemon=self.start())
        self.assertEqual(result.returncode, 0, result.err)

    def test_broken_model(self):
        path = self.write("bad.linnet", harness.small_model().replace("return y", "return z"))
        result = self.run_client("memory", path, "--batch", 4, daemon=self.start())
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.out, "")
        self.assertIn("E1201", result.err)
        self.assertIn("bad.linnet:", result.err)
        self.assertIn("^", result.err)

    def test_unknown_model(self):
        result = self.run_client("memory", "llama-3.1-8b-instrct", daemon=self.start())
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.out, "")
        self.assertIn("did you mean `llama-3.1-8b-instruct`", result.err)

    def test_unknown_entry(self):
        result = self.run_client(*LLAMA, "--entry", "decode_row", daemon=self.start())
        self.assertEqual(result.returncode, 2)
        self.assertIn("decode_rows", result.err)

    def test_models(self):
        daemon = self.start()
        names = self.run_client("models", "--names", daemon=daemon).out.splitlines()
        self.assertIn("llama-3.1-8b-instruct", names)
        self.assertEqual(names, sorted(names))
        listed = json.loads(self.run_client("models", "--json", daemon=daemon).out)
        self.assertEqual([model["name"] for model in listed["models"]], names)
        result = self.run_client("models", "llama-3.1-8b-instruct", "--json", daemon=daemon)
        document = json.loads(result.out)
        self.assertEqual(document["parameter_count"], 8030261248)
        self.assertIn("forward", [entry["name"] for entry in document["entries"]])


if __name__ == "__main__":
    unittest.main()
