"""How long steps take, as a person asks for it."""

import json
import pathlib
import unittest

import harness

PROFILE = pathlib.Path(__file__).parents[2] / "core/device/profiles/h100-80gb.json"


class TimeTest(harness.DaemonTest):
    def ask(self, *words):
        if not self.daemons:
            self.start()
        return self.run_client(*words, daemon=self.daemons[0])

    def test_step(self):
        step = ("time", "llama-3.1-8b-instruct", "--batch", 1, "--seq-len", 8192, "--device", "h100-80gb")
        result = self.ask(*step, "--why")
        self.assertEqual(result.returncode, 0, result.err)
        self.assertIn("Step time: 262 ms, ", result.out)
        self.assertIn("Limited by compute.", result.out)
        self.assertRegex(result.out, r"linear +layers.0.mlp.gate +32 ")
        self.assertIn("measured: H100 SXM", result.out)
        document = json.loads(self.ask(*step, "--json").out)
        (time,) = document["steps"]
        self.assertAlmostEqual(sum(time["parts"].values()), time["seconds"])
        self.assertEqual(document["device"]["scaled"], [])
        self.assertEqual(time["operations"], [])

    def test_layouts(self):
        training = ("time", "tinyllama-1.1b-chat", "--entry", "loss_packed", "--training", "--seq-len", 4096,
                    "--device", "l4", "--json")
        one = json.loads(self.ask(*training, "--checkpoint", "none", "--checkpoint", "block").out)
        self.assertEqual([step["checkpoint"] for step in one["steps"]], ["none", "block"])
        self.assertLess(one["steps"][0]["seconds"], one["steps"][1]["seconds"])
        self.assertIn("link", one["device"]["scaled"])
        four = json.loads(self.ask(*training, "--replicas", 4).out)["steps"][0]
        self.assertEqual(four["tokens"], 4 * one["steps"][0]["tokens"])
        pipeline = json.loads(self.ask(*training, "--pipeline-parallel", 4, "--microbatches", 8).out)["steps"][0]
        self.assertGreater(pipeline["parts"]["bubble"], 0)
        self.assertTrue(pipeline["stage"].startswith("stage "))

    def test_profile_file(self):
        profile = json.loads(PROFILE.read_text())
        profile["name"] = "mine"
        profile["link"] = profile["link"] / 2
        mine = self.write("mine.json", json.dumps(profile))
        step = ("time", "gpt2", "--batch", 1, "--seq-len", 64, "--json")
        document = json.loads(self.ask(*step, "--device", mine).out)
        self.assertEqual(document["device"]["name"], "mine")
        fit = self.ask("fit", "gpt2", "--seq-len", 64, "--maximize", "batch", "--device", mine)
        self.assertIn("of mine", fit.out)
        for field, value, want in (("skinny", 0, "`skinny` must be a number above 0"), ("version", 7, "`version` is not 1"),
                                   ("decode", None, "`decode` must be a number")):
            broken = self.write("broken.json", json.dumps({**profile, field: value}))
            result = self.ask(*step, "--device", broken)
            self.assertEqual(result.returncode, 2)
            self.assertIn(want, result.err)

    def test_bad_input(self):
        step = ("time", "gpt2", "--batch", 1, "--seq-len", 64)
        for arguments, want in (
            (step, "add --device h100-80gb"),
            ((*step, "--device", "h100"), "there is no device `h100`"),
            ((*step, "--device", "nowhere.json"), "cannot be read"),
            ((*step, "--device", "l4", "--replicas", 0), "replicas"),
        ):
            result = self.ask(*arguments)
            self.assertEqual(result.returncode, 2, result.out)
            self.assertIn(want, result.err)


if __name__ == "__main__":
    unittest.main()
