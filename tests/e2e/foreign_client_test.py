"""Another language's gRPC: the calls, errors, health and reflection."""

import subprocess
import sys
import unittest

import harness

import grpc


class ForeignClientTest(harness.DaemonTest):
    @classmethod
    def setUpClass(cls):
        # Messages made from the protocol files, as any client would.
        import tempfile

        cls.generated = tempfile.TemporaryDirectory()
        proto = harness.ROOT / "proto"
        files = sorted(str(path) for path in proto.rglob("*.proto"))
        subprocess.run(["protoc", f"-I{proto}", f"--python_out={cls.generated.name}", *files], check=True)
        sys.path.insert(0, cls.generated.name)
        from linnet.v1 import error_pb2, models_pb2, planner_pb2

        cls.error_pb2, cls.models_pb2, cls.planner_pb2 = error_pb2, models_pb2, planner_pb2

    @classmethod
    def tearDownClass(cls):
        sys.path.remove(cls.generated.name)
        cls.generated.cleanup()

    def setUp(self):
        super().setUp()
        self.channel = grpc.insecure_channel(f"unix:{self.start().socket}")
        self.addCleanup(self.channel.close)
        self.analyze = self.channel.unary_unary(
            "/linnet.v1.Planner/Analyze",
            request_serializer=self.planner_pb2.AnalyzeRequest.SerializeToString,
            response_deserializer=self.planner_pb2.AnalyzeResponse.FromString,
        )

    def request(self, name):
        request = self.planner_pb2.AnalyzeRequest()
        request.config.model.name = name
        request.config.batch = 1
        request.config.context = 8192
        return request

    def detail(self, error):
        trailers = dict(error.trailing_metadata())
        trailer = self.error_pb2.StatusTrailer.FromString(trailers["grpc-status-details-bin"])
        detail = self.error_pb2.ErrorDetail()
        self.assertTrue(trailer.details[0].Unpack(detail))
        return detail

    def test_analyze(self):
        full = self.analyze(self.request("llama-3.1-8b-instruct"), timeout=harness.LIMIT_S)
        self.assertEqual(full.components[0].bytes, 16060522496)
        self.assertEqual(full.peak.step, 1603)
        request = self.request("llama-3.1-8b-instruct")
        request.view = self.planner_pb2.VIEW_SUMMARY
        summary = self.analyze(request, timeout=harness.LIMIT_S)
        self.assertEqual(summary.peak.graph_bytes, full.peak.graph_bytes)
        self.assertEqual(summary.peak.expected_bytes, full.peak.expected_bytes)
        self.assertEqual(summary.peak.at, full.peak.at)
        self.assertFalse(summary.components)

    def test_unknown_model(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.analyze(self.request("lama-3.1-8b-instruct"), timeout=harness.LIMIT_S)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)
        self.assertIn("llama-3.1-8b-instruct", self.detail(raised.exception).suggestions)

    def test_many_errors_fit_into_the_trailer(self):
        request = self.planner_pb2.AnalyzeRequest()
        bundle = request.config.model.bundle
        bundle.root_file = "bad.linnet"
        lines = "".join(f"    let a{n} = missing{n}\n" for n in range(2000))
        source = f"module bad\n\npub entry forward() -> i32 {{\n{lines}    return 0\n}}\n"
        bundle.files.add(path="bad.linnet", content=source.encode())
        with self.assertRaises(grpc.RpcError) as raised:
            self.analyze(request, timeout=harness.LIMIT_S)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        detail = self.detail(raised.exception)
        self.assertEqual(detail.diagnostics[0].code, "E1201")
        self.assertEqual(detail.diagnostics[0].location.start.line, 4)
        self.assertGreater(detail.omitted_diagnostics, 0)

    def test_no_path_of_the_server_is_opened(self):
        secret = self.write("secret.linnet", harness.small_model())
        for name in (str(secret), "../secret.linnet", f"file://{secret}"):
            with self.assertRaises(grpc.RpcError) as raised:
                self.analyze(self.request(name), timeout=harness.LIMIT_S)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_health_and_reflection(self):
        # Both requests are small enough to write by hand: an empty message, and
        # `list_services`, field 7, with empty text.
        raw = {"request_serializer": bytes, "response_deserializer": bytes}
        health = self.channel.unary_unary("/grpc.health.v1.Health/Check", **raw)
        self.assertEqual(health(b"", timeout=harness.LIMIT_S), b"\x08\x01")  # SERVING
        reflect = self.channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", **raw
        )
        answer = next(reflect(iter([b"\x3a\x00"]), timeout=harness.LIMIT_S))
        self.assertIn(b"linnet.v1.Planner", answer)
        self.assertIn(b"linnet.v1.Models", answer)


if __name__ == "__main__":
    unittest.main()
