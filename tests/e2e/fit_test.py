"""The largest sizes that fit, as a person asks for them."""

import json
import unittest

import harness

FIT = ("fit", "llama-3.1-8b-instruct", "--entry", "decode_rows", "--seq-len", 8192)
BUDGET = ("--device-memory", "80GiB", "--reserve", "2GiB")


class FitTest(harness.DaemonTest):
    def ask(self, *words, status=0):
        if not self.daemons:
            self.start()
        result = self.run_client(*words, daemon=self.daemons[0])
        self.assertEqual(result.returncode, status, result.err)
        return result

    def test_text(self):
        self.assertEqual(
            self.ask(*FIT, *BUDGET, "--maximize", "batch").out,
            "Maximum batch size: 62\n\nEstimated peak memory: 77.68 GiB\n"
            "Headroom: 324.84 MiB of a 78.00 GiB budget\n")

    def test_found_sizes_are_those_of_reports(self):
        for goal, flag, fixed in (("context", "--seq-len", ("--batch", 1)), ("batch", "--batch", ("--seq-len", 2048))):
            model = ("tinyllama-1.1b-chat", *fixed)
            found = json.loads(self.ask("fit", *model, "--device", "l4", "--maximize", goal, "--json").out)
            self.assertEqual(found["device"]["name"], "l4")
            self.assertGreater(found["value"], 1)
            for size, fits in ((found["value"], True), (found["value"] + 1, False)):
                report = json.loads(self.ask("memory", *model, flag, size, "--json").out)
                self.assertEqual(report["peak"]["expected"] <= found["budget"], fits)

    def test_nothing_fits(self):
        result = self.ask("fit", "llama-3.1-8b-instruct", "--seq-len", 64, "--device-memory", "8GiB", "--maximize",
                          "batch", status=1)
        self.assertRegex(result.out, r"^No batch size fits: 1 needs .* more than a 8.00 GiB budget\.\n$")

    def test_mistakes(self):
        for words, want in (
            ((*FIT, *BUDGET), "--maximize"),
            ((*FIT, "--maximize", "batch"), "--device"),
            ((*FIT, *BUDGET, "--device", "l4", "--maximize", "batch"), "say the same twice"),
            ((*FIT, "--device", "l44", "--maximize", "batch"), "did you mean `l4`"),
            ((*FIT, "--device-memory", "2GiB", "--reserve", "2GiB", "--maximize", "batch"), "nothing is left"),
            ((*FIT, *BUDGET, "--reserve-percent", 101, "--maximize", "batch"), "--reserve-percent"),
            ((*FIT, *BUDGET, "--maximize", "layers"), "--maximize"),
            (("fit", "bert-base-uncased", "--batch", 1, "--seq-len", 64, *BUDGET, "--maximize", "kv-cache"),
             "no cache that could grow"),
        ):
            result = self.ask(*words, status=2)
            self.assertEqual(result.out, "")
            self.assertIn(want, result.err)

    def test_throughput(self):
        step = ("fit", "tinyllama-1.1b-chat", "--entry", "loss_packed", "--training", "--maximize", "throughput", "--device",
                "h100-80gb")
        text = self.ask(*step, "--devices", 4).out
        self.assertIn("Predicted throughput on 4 x h100-80gb (measured: H100 SXM", text)
        self.assertRegex(text, r"PP 2 x 8 1f1b, 2 replicas +8192 +[\d,]+ compute +8.29 GiB\n")
        self.assertRegex(text, r"TP 2, 2 replicas +- the model's `where` clauses: none fits\n")
        listed = json.loads(self.ask(*step, "--devices", 4, "--json").out)
        rates = [layout["tokens_per_second"] for layout in listed["pools"][0]["layouts"] if not layout["refused"]]
        self.assertEqual(rates, sorted(rates, reverse=True))
        one = json.loads(self.ask(*step, "--seq-len", 1024, "--json").out)
        self.assertEqual(([layout["name"] for layout in one["pools"][0]["layouts"]], one["grows"]), (["1 device"], None))
        self.ask(*step, "--reserve-percent", 99, status=1)
        pools = ("fit", "tinyllama-1.1b-chat", "--entry", "loss_packed", "--training", "--maximize", "throughput", "--pool",
                 "h100-80gb:2", "--pool", "a100-80gb:2")
        together = json.loads(self.ask(*pools, "--json").out)["together"]
        self.assertEqual(len(together["layouts"]), 2)
        self.assertGreaterEqual(together["seconds"], max(layout["seconds"] for layout in together["layouts"]))
        self.assertRegex(self.ask(*pools).out, r"\nTogether [\d,]+ tokens/s, a step every .*:\n  h100-80gb: ")
        for words, want in (
            ((*step, "--devices", 0), "--devices"),
            ((*step, "--objective", "speed"), "--objective"),
            ((*pools, "--devices", 2), "leave out --devices"),
            ((*pools, "--pool", "l4"), "such as h100-80gb:4"),
            ((*pools, "--pool", "l4:0"), "--pool"),
            ((*step, "--pool", "l4:2"), "for each kind"),
            ((*step, "--max-step-ms", -1), "--max-step-ms"),
            ((*step, "--devices", 2, "--tensor-parallel", 2), "so none can be given"),
            ((*FIT, *BUDGET, "--maximize", "throughput"), "--device h100-80gb"),
            ((*FIT, *BUDGET, "--maximize", "batch", "--devices", 2), "throughput"),
        ):
            self.assertIn(want, self.ask(*words, status=2).err)

    def test_devices(self):
        listed = json.loads(self.ask("devices", "--json").out)["devices"]
        self.assertIn(("h100-80gb", 85017493504), [(device["name"], device["memory_bytes"]) for device in listed])
        self.assertIn("h100-80gb", self.ask("devices").out)


if __name__ == "__main__":
    unittest.main()
