"""The control of native_fuzz.py: serves an operation whose answer is not what its description declares, and expects that the fuzzing finds it.

Prints what native_fuzz.py prints. Exit status 1: it found the difference and nothing else went wrong.
"""

import http.server
import json
import os
import subprocess
import sys
import threading

OBJECT = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ANSWERS = {"200": {"description": "An object.", "content": {"application/json": {"schema": OBJECT}}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Control", "version": "1"},
    "paths": {"/v1/thing": {"get": {"operationId": "showThing", "parameters": [], "responses": ANSWERS}}},
}


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        # A number is not a string.
        body = json.dumps(DOCUMENT if self.path == "/openapi.json" else {"name": 7}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def main() -> int:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native_fuzz.py")
    command = [sys.executable, script, f"http://127.0.0.1:{server.server_port}", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    print(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
