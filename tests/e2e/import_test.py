"""Checkpoints that others have saved: folders of the Hub and GGUF files."""

import json
import pathlib
import struct
import unittest

import harness

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden/hf"
SIZES = ("--batch", 1, "--seq-len", 64)
SMALL = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8,
    "num_attention_heads": 2, "vocab_size": 16, "intermediate_size": 8,
    "num_hidden_layers": 1, "tie_word_embeddings": True,
}
# Of SMALL: name and shape of each tensor.
TENSORS = {
    "model.embed_tokens.weight": [16, 8], "model.norm.weight": [8],
    **{f"model.layers.0.self_attn.{name}_proj.weight": [8, 8] for name in "qkvo"},
    **{f"model.layers.0.mlp.{name}_proj.weight": [8, 8] for name in ("gate", "up", "down")},
    "model.layers.0.input_layernorm.weight": [8], "model.layers.0.post_attention_layernorm.weight": [8],
}
ELEMENTS = 16 * 8 + 7 * 64 + 3 * 8


def safetensors(tensors, dtype="BF16", size=2, data=True):
    header, at = {}, 0
    for name, shape in tensors.items():
        bytes_ = size
        for extent in shape:
            bytes_ *= extent
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + bytes_]}
        at += bytes_
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(at if data else 0)


def gguf(metadata, tensors):
    """Version 3: metadata of integers and texts, tensors as name: (shape, type)."""
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()

    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        out += text(key)
        out += struct.pack("<I", 8) + text(value) if isinstance(value, str) else struct.pack("<II", 4, value)
    at = 0
    for name, (shape, kind, bytes_) in tensors.items():
        out += text(name) + struct.pack("<I", len(shape))
        out += b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        out += struct.pack("<IQ", kind, at)
        at += (bytes_ + 31) // 32 * 32
    out += bytes(-len(out) % 32)
    return out + bytes(at)


def component(document, name):
    return next(item for item in document["components"] if item["name"] == name)


class ImportTest(harness.DaemonTest):
    def save(self, folder, config, **files):
        self.write(f"{folder}/config.json", json.dumps(config))
        for name, content in files.items():
            (self.folder / folder / name.replace("__", ".")).write_bytes(content)
        return self.folder / folder

    def report(self, path, *flags, daemon):
        result = self.run_client("memory", path, *SIZES, "--json", *flags, daemon=daemon)
        self.assertEqual(result.returncode, 0, result.err)
        return json.loads(result.out)

    def refused(self, path, *flags, daemon, status=1):
        result = self.run_client("memory", path, *SIZES, *flags, daemon=daemon)
        self.assertEqual(result.returncode, status, result.err)
        self.assertEqual(result.out, "")
        return result.err

    def test_config_alone(self):
        daemon = self.start()
        path = self.save("llama", json.loads((GOLDEN / "llama-3.1-8b.json").read_text()))
        document = self.report(path, daemon=daemon)
        self.assertEqual(component(document, "Weights")["bytes"], 16060522496)
        # The folder and its file mean the same.
        self.assertEqual(self.report(path / "config.json", daemon=daemon)["peak"], document["peak"])
        described = self.run_client("models", path, "--json", daemon=daemon)
        self.assertEqual(json.loads(described.out)["parameter_count"], 8030261248)

    def test_headers_say_what_weights_take(self):
        daemon = self.start()
        one = self.save("one", SMALL, model__safetensors=safetensors(TENSORS))
        self.assertEqual(component(self.report(one, daemon=daemon), "Weights")["bytes"], 2 * ELEMENTS)
        wide = self.save("wide", SMALL, model__safetensors=safetensors(TENSORS, "F32", 4))
        self.assertEqual(component(self.report(wide, daemon=daemon), "Weights")["bytes"], 4 * ELEMENTS)

    def test_headers_of_several_files(self):
        names = list(TENSORS)
        parts = {"a.safetensors": names[:4], "b.safetensors": names[4:]}
        index = {"metadata": {}, "weight_map": {name: file for file, of in parts.items() for name in of}}
        path = self.save("split", SMALL, model__safetensors__index__json=json.dumps(index).encode())
        for file, of in parts.items():
            (path / file).write_bytes(safetensors({name: TENSORS[name] for name in of}))
        daemon = self.start()
        self.assertEqual(component(self.report(path, daemon=daemon), "Weights")["bytes"], 2 * ELEMENTS)

    def test_a_header_that_disagrees_is_named(self):
        daemon = self.start()
        other = dict(TENSORS, **{"model.norm.weight": [9]})
        path = self.save("other", SMALL, model__safetensors=safetensors(other))
        self.assertIn("`model.norm.weight`", self.refused(path, daemon=daemon))
        less = {name: shape for name, shape in TENSORS.items() if "q_proj" not in name}
        path = self.save("less", SMALL, model__safetensors=safetensors(less))
        self.assertIn("q_proj.weight", self.refused(path, daemon=daemon))

    def test_windows(self):
        daemon = self.start()
        path = self.save("gemma", json.loads((GOLDEN / "gemma-3-1b.json").read_text()))
        sizes = ("--entry", "decode", "--cache-len", 4096)
        full = self.report(path, *sizes, daemon=daemon)
        rolling = self.report(path, *sizes, "--kv-layout", "rolling", daemon=daemon)
        self.assertLess(component(rolling, "KV cache")["bytes"], component(full, "KV cache")["bytes"])
        self.assertEqual(rolling["configuration"]["kv_layout"], "rolling")
        self.assertIn("--kv-layout", self.refused(path, "--kv-layout", "ring", daemon=daemon, status=2))

    def test_unknown_architecture(self):
        err = self.refused(self.save("odd", dict(SMALL, model_type="lama")), daemon=self.start())
        self.assertIn("lama", err)
        self.assertIn("llama", err)

    def test_contradictions(self):
        daemon = self.start()
        for change, want in (
            ({"num_attention_heads": 3}, "num_attention_heads"),
            ({"num_hidden_layers": -1}, "num_hidden_layers"),
            ({"num_key_value_heads": 4}, "num_key_value_heads"),
            ({"hidden_size": None}, "hidden_size"),
            ({"vocab_size": "many"}, "vocab_size"),
        ):
            path = self.save("wrong", {**SMALL, **change})
            self.assertIn(f"`{want}`", self.refused(path, daemon=daemon), change)

    def test_broken_headers(self):
        daemon = self.start()
        good = safetensors(TENSORS)
        for name, content in (
            ("long", struct.pack("<Q", 1 << 40) + good[8:]),
            ("short", good[:6]),
            ("cut", good[:40]),
            ("text", struct.pack("<Q", 4) + b"nope"),
        ):
            path = self.save(name, SMALL, model__safetensors=content)
            self.assertIn("model.safetensors", self.refused(path, daemon=daemon), name)

    def test_gguf(self):
        daemon = self.start()
        metadata = {
            "general.architecture": "llama", "llama.block_count": 1, "llama.embedding_length": 32,
            "llama.feed_forward_length": 32, "llama.attention.head_count": 2, "llama.context_length": 64,
            "llama.vocab_size": 16,
        }
        q8 = {shape: shape[0] * shape[1] // 32 * 34 for shape in ((32, 32), (16, 32))}
        tensors = {"token_embd.weight": ((16, 32), 8, q8[16, 32]), "output_norm.weight": ((32,), 0, 128)}
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
            tensors[f"blk.0.{name}.weight"] = ((32, 32), 8, q8[32, 32])
        for name in ("attn_norm", "ffn_norm"):
            tensors[f"blk.0.{name}.weight"] = ((32,), 0, 128)
        path = self.folder / "small.gguf"
        path.write_bytes(gguf(metadata, tensors))
        document = self.report(path, daemon=daemon)
        self.assertEqual(component(document, "Weights")["bytes"], sum(of[2] for of in tensors.values()))
        described = self.run_client("models", path, "--json", daemon=daemon)
        self.assertEqual(described.returncode, 0, described.err)
        path.write_bytes(gguf(metadata, tensors)[:60])
        self.assertIn("small.gguf", self.refused(path, daemon=daemon))


if __name__ == "__main__":
    unittest.main()
