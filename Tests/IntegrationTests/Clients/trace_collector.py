"""A collector of traces that decodes with opentelemetry-proto, from PyPI. It prints its port, then one JSON line per span.

Arguments: the mode (`take`; `hang`: answers nothing), and a header with its value that each call must have, or nothing.
"""

import base64
import http.server
import json
import sys
import time

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

MODE = sys.argv[1]
HEADER = sys.argv[2:4]


def show(value):
    print(json.dumps(value), flush=True)


def with_bytes(node):
    """OTLP's JSON has hex ids, where protobuf's JSON has base64."""
    if isinstance(node, list):
        return [with_bytes(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {}
    for key, value in node.items():
        if key in ("traceId", "spanId", "parentSpanId"):
            out[key] = base64.b64encode(bytes.fromhex(value)).decode()
        else:
            out[key] = with_bytes(value)
    return out


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if MODE == "hang":
            time.sleep(3600)
        try:
            assert self.path == "/v1/traces", self.path
            assert self.headers["Content-Type"] == "application/json", self.headers["Content-Type"]
            if HEADER:
                assert self.headers[HEADER[0]] == HEADER[1], "a secret header is missing"
            request = json_format.ParseDict(with_bytes(json.loads(body)), trace_service_pb2.ExportTraceServiceRequest())
            for resource in request.resource_spans:
                names = {a.key: a.value.string_value for a in resource.resource.attributes}
                assert names["service.name"] == "push-gateway", names
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        assert len(span.trace_id) == 16 and len(span.span_id) == 8
                        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
                        show(
                            {
                                "trace": span.trace_id.hex(), "span": span.span_id.hex(),
                                "parent": span.parent_span_id.hex(), "name": span.name, "kind": span.kind,
                                "state": span.trace_state, "node": names["service.instance.id"],
                                "attributes": {
                                    a.key: getattr(a.value, a.value.WhichOneof("value")) for a in span.attributes
                                },
                            }
                        )
        except Exception as error:
            show({"error": repr(error)})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
server.daemon_threads = True
show({"port": server.server_address[1]})
server.serve_forever()
