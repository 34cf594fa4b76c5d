"""Real processes for the end-to-end tests.

Each test owns its folder, socket, log and state, so that tests run side by side
and beside a daemon of the person who runs them. Nothing sleeps for a fixed time:
waits are for a condition, with a limit. When a test fails, its daemons' logs are
shown.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

BIN = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 60  # For any one wait. Sanitizers on a busy machine are slow.


def wait_for(condition, what, limit_s=LIMIT_S):
    """Returns the first true value of condition(), looking often."""
    end = time.monotonic() + limit_s
    pause = 0.001
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    raise AssertionError(f"waited {limit_s} s for {what}")


class Daemon:
    """A linnetd in the foreground, with a socket and a log of its own."""

    def __init__(self, folder, *flags, debug=False):
        folder.mkdir(mode=0o700, exist_ok=True)
        self.socket = folder / "linnetd.sock"
        self.log_path = folder / "log"
        self.log_file = open(self.log_path, "wb")
        level = ["--log-level", "debug"] if debug else []
        self.process = subprocess.Popen(
            [BIN / "linnetd", "--socket", self.socket, *level, *map(str, flags)],
            stderr=self.log_file,
            env=clean_environment(folder),
        )

    def log(self):
        return self.log_path.read_text()

    def wait_for_log(self, pattern):
        def look():
            found = re.search(pattern, self.log())
            if found is None and self.process.poll() is not None:
                raise AssertionError(f"linnetd ended early:\n{self.log()}")
            return found

        return wait_for(look, f"{pattern} in the log")

    def ready(self):
        self.wait_for_log("event=ready")
        return self

    def metrics(self):
        port = self.wait_for_log(r"metrics_port=(\d+)")[1]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=LIMIT_S) as reply:
            return reply.read().decode()

    def metric(self, name):
        """The value of one line, written as `name{label="value"}`."""
        for line in self.metrics().splitlines():
            if line.startswith(name + " "):
                return float(line.rpartition(" ")[2])
        raise AssertionError(f"no metric {name}")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(timeout=LIMIT_S)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self.log_file.close()


def clean_environment(folder, **more):
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("LINNET", "CUBLAS"))
    }
    environment.update(XDG_RUNTIME_DIR=str(folder), NO_COLOR="1", **more)
    return environment


class DaemonTest(unittest.TestCase):
    def setUp(self):
        # Short, since a socket's path is.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ln-", dir="/tmp"))
        os.chmod(self.folder, 0o700)
        self.daemons = []
        self.addCleanup(self.clean)

    def clean(self):
        result = self._outcome.result
        failed = any(test is self for test, _ in result.failures + result.errors)
        for daemon in self.daemons:
            daemon.kill()
            if failed:
                print(f"--- log of {daemon.socket}\n{daemon.log()}", file=sys.stderr)
        self.stop_own_daemon()
        shutil.rmtree(self.folder, ignore_errors=True)

    def own_daemon_pid(self):
        """The daemon that the client started in this test's folder, if any."""
        path = self.folder / "linnet/linnetd.sock.lock"
        return int(path.read_text()) if path.exists() and path.read_text() else None

    def stop_own_daemon(self):
        pid = self.own_daemon_pid()
        # It is ours only if it still holds the socket of this folder.
        if pid and str(self.folder) in command_of(pid):
            os.kill(pid, signal.SIGTERM)
            wait_for(lambda: not command_of(pid), "the daemon's end")

    def start(self, *flags, **options):
        daemon = Daemon(self.folder / f"d{len(self.daemons)}", *flags, **options)
        self.daemons.append(daemon)
        return daemon.ready()

    def spawn(self, *words, daemon=None, **environment):
        """Starts `linnet`, against `daemon` when given."""
        server = ["--server", f"unix:{daemon.socket}"] if daemon else []
        return subprocess.Popen(
            [BIN / "linnet", *map(str, words), *server],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(self.folder, **environment),
        )

    def run_client(self, *words, **options):
        process = self.spawn(*words, **options)
        process.out, process.err = process.communicate(timeout=LIMIT_S)
        return process

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def small_model(hidden=64, layers=2):
    """A program of its own for each pair of numbers; tracing takes time in
    proportion to the layers."""
    return f"""module small

use std.nn.linear::{{Linear}}

pub block Layer {{
    sub up: Linear<{hidden}, {4 * hidden}, f32>
    sub down: Linear<{4 * hidden}, {hidden}, f32>

    pub fn forward<B: Dim>(x: Tensor[B, {hidden}; f32]) -> Tensor[B, {hidden}; f32] {{
        return down.forward(up.forward(x))
    }}
}}

pub block Model {{
    sub layers: [Layer; {layers}]

    pub entry forward<B: Dim>(x: Tensor[B, {hidden}; f32]) -> Tensor[B, {hidden}; f32] {{
        var y = x
        static for layer in layers {{
            y = layer.forward(y)
        }}
        return y
    }}
}}
"""
