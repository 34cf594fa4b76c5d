"""The life of a daemon: started by need, shared, limited, drained."""

import json
import os
import signal
import subprocess
import unittest

import harness

LLAMA = ("memory", "llama-3.1-8b-instruct", "--batch", 1, "--seq-len", 1024)


class AutostartTest(harness.DaemonTest):
    def test_first_call_starts_it_and_the_next_finds_it(self):
        first = self.run_client(*LLAMA)
        self.assertEqual(first.returncode, 0, first.err)
        pid = self.own_daemon_pid()
        self.assertIn("linnetd", harness.command_of(pid))
        second = self.run_client(*LLAMA)
        self.assertEqual(second.out, first.out)
        self.assertEqual(self.own_daemon_pid(), pid)

    def test_many_first_calls_start_one(self):
        clients = [self.spawn(*LLAMA) for _ in range(8)]
        for client in clients:
            out, err = client.communicate(timeout=harness.LIMIT_S)
            self.assertEqual(client.returncode, 0, err)
            self.assertIn("Graph peak", out)
        log = (self.folder / "linnet/linnetd.sock.log").read_text()
        self.assertEqual(log.count("event=ready"), 1)

    def test_a_daemon_that_was_killed_is_started_again(self):
        self.assertEqual(self.run_client(*LLAMA).returncode, 0)
        pid = self.own_daemon_pid()
        os.kill(pid, signal.SIGKILL)  # Its socket stays behind.
        harness.wait_for(lambda: not harness.command_of(pid), "its end")
        result = self.run_client(*LLAMA)
        self.assertEqual(result.returncode, 0, result.err)
        self.assertNotEqual(self.own_daemon_pid(), pid)

    def test_no_autostart(self):
        result = self.run_client(*LLAMA, "--no-autostart")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.out, "")
        self.assertIn("--no-autostart", result.err)
        self.assertIsNone(self.own_daemon_pid())

    def test_unreachable_server(self):
        for words, environment in [
            (["--server", "127.0.0.1:1"], {}),
            ([], {"LINNET_SERVER": f"unix:{self.folder}/none.sock"}),
        ]:
            result = self.run_client(*LLAMA, *words, **environment)
            self.assertEqual(result.returncode, 3)
            self.assertEqual(result.out, "")
            self.assertIn("cannot reach the server", result.err)

    def test_a_folder_open_to_others_is_refused(self):
        (self.folder / "linnet").mkdir(mode=0o755)
        os.chmod(self.folder / "linnet", 0o755)
        result = self.run_client(*LLAMA)
        self.assertEqual(result.returncode, 3)
        self.assertIn("closed to others", result.err)

    def test_a_start_that_fails_is_told(self):
        result = self.run_client(*LLAMA, LINNETD_METRICS="no address")
        self.assertEqual(result.returncode, 3)
        self.assertIn("LINNETD_METRICS must be host:port", result.err)


class SharedTest(harness.DaemonTest):
    def test_one_missing_key_is_built_once(self):
        daemon = self.start("--metrics", "127.0.0.1:0")
        path = self.write("wide.linnet", harness.small_model(layers=100))
        clients = [self.spawn("memory", path, "--batch", n + 1, daemon=daemon) for n in range(8)]
        for client in clients:
            _, err = client.communicate(timeout=harness.LIMIT_S)
            self.assertEqual(client.returncode, 0, err)
        self.assertEqual(daemon.metric('linnet_traces_total{result="ok"}'), 1)
        self.assertEqual(
            sum(daemon.metric(f'linnet_cache_lookups_total{{result="{r}"}}') for r in ("hit", "joined", "miss")), 8
        )

    def test_the_cache_is_bounded_in_bytes(self):
        limit = 1 << 20
        daemon = self.start("--metrics", "127.0.0.1:0", "--cache-max-bytes", limit)
        models = [self.write(f"m{n}.linnet", harness.small_model(hidden=32 + n, layers=40)) for n in range(1, 40)]
        for path in models:
            result = self.run_client("memory", path, "--batch", 1, daemon=daemon)
            self.assertEqual(result.returncode, 0, result.err)
            self.assertLessEqual(daemon.metric("linnet_cache_bytes"), limit)
            if daemon.metric("linnet_cache_evictions_total") > 0:
                break
        self.assertGreater(daemon.metric("linnet_cache_evictions_total"), 0)
        built = daemon.metric('linnet_traces_total{result="ok"}')
        self.run_client("memory", models[0], "--batch", 1, daemon=daemon)
        self.assertEqual(daemon.metric('linnet_traces_total{result="ok"}'), built + 1, "the oldest was dropped")

    def test_limits_are_named(self):
        daemon = self.start("--limits-max-source-bytes", 100)
        path = self.write("m.linnet", harness.small_model())
        result = self.run_client("memory", path, daemon=daemon)
        self.assertEqual(result.returncode, 1)
        self.assertIn("limits.max_source_bytes", result.err)


class EndTest(harness.DaemonTest):
    def test_a_request_in_flight_is_finished(self):
        daemon = self.start(debug=True)
        path = self.write("deep.linnet", harness.small_model(layers=50000))
        client = self.spawn("memory", path, "--batch", 1, daemon=daemon)
        daemon.wait_for_log("event=trace_started")
        self.assertEqual(daemon.stop(), 0, daemon.log())
        out, err = client.communicate(timeout=harness.LIMIT_S)
        self.assertEqual(client.returncode, 0, err)
        self.assertIn("Graph peak", out)
        self.assertIn('event=draining calls="Planner.Analyze=1"', daemon.log())
        self.assertIn("event=stopped", daemon.log())

    def test_an_idle_daemon_ends(self):
        daemon = self.start("--idle-exit", "100ms")
        self.assertEqual(daemon.process.wait(timeout=harness.LIMIT_S), 0)
        self.assertIn("reason=idle", daemon.log())

    def test_a_second_daemon_of_one_socket_is_refused(self):
        first = self.start()
        second = subprocess.run(
            [harness.BIN / "linnetd", "--socket", first.socket],
            stderr=subprocess.PIPE, text=True, timeout=harness.LIMIT_S,
            env=harness.clean_environment(self.folder),
        )
        self.assertEqual(second.returncode, 4)
        self.assertIn(f"process {first.process.pid}", second.stderr)


class SettingsTest(harness.DaemonTest):
    def linnetd(self, *words, **environment):
        return subprocess.run(
            [harness.BIN / "linnetd", *map(str, words)],
            capture_output=True, text=True, timeout=harness.LIMIT_S,
            env=harness.clean_environment(self.folder, **environment),
        )

    def test_check_config(self):
        good = self.write("good.toml", "idle_exit = '5m'\n[traces]\nqueue = 3\n")
        self.assertEqual(self.linnetd("--config", good, "--check-config").returncode, 0)
        bad = self.write("bad.toml", "[traces]\nqueu = 3\n")
        result = self.linnetd("--config", bad, "--check-config")
        self.assertEqual(result.returncode, 2)
        self.assertIn("bad.toml:2:8: unknown key `traces.queu`; did you mean `traces.queue`?", result.stderr)

    def test_flags_win_over_the_environment_and_that_over_the_file(self):
        config = self.write("c.toml", "[traces]\nqueue = 'from the file'\n")
        environment = {"LINNETD_TRACES_QUEUE": "from the environment"}
        result = self.linnetd("--config", config, "--check-config", **environment)
        self.assertIn("c.toml:2", result.stderr)
        config.write_text("")
        result = self.linnetd("--config", config, "--check-config", **environment)
        self.assertIn("LINNETD_TRACES_QUEUE", result.stderr)
        result = self.linnetd("--traces-queue", "bad", "--check-config")
        self.assertIn("--traces-queue", result.stderr)

    def test_an_open_address_needs_consent(self):
        result = self.linnetd("--listen", "0.0.0.0:0", "--check-config")
        self.assertEqual(result.returncode, 2)
        self.assertIn("allow_remote_plaintext", result.stderr)
        result = self.linnetd("--listen", "0.0.0.0:0", "--allow-remote-plaintext", "--check-config")
        self.assertEqual(result.returncode, 0)

    def test_tcp(self):
        daemon = self.start("--listen", "127.0.0.1:0")
        port = daemon.wait_for_log(r"127\.0\.0\.1:(\d+)")[1]
        result = self.run_client(*LLAMA, "--json", "--server", f"127.0.0.1:{port}")
        self.assertEqual(result.returncode, 0, result.err)
        json.loads(result.out)


if __name__ == "__main__":
    unittest.main()
