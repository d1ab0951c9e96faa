import HTTPTypes
import Hummingbird
import Model
import NIOCore

/// `/healthz` (the process), `/readyz` (database and credentials), `/metrics` (Prometheus text).
struct AdminResponder: HTTPResponder {
    typealias Context = CallContext

    let readiness: @Sendable () async -> Readiness
    let registry: PrometheusRegistry
    let refresh: @Sendable () -> Void

    func respond(to request: Request, context: CallContext) async throws -> Response {
        guard request.method == .get || request.method == .head else {
            return Problem.methodNotAllowed(request.method.rawValue).response
        }
        switch request.uri.path {
        case "/healthz": return .json(["status": "ok"])
        case "/readyz":
            let readiness = await readiness()
            return .json(readiness.json, status: readiness.isReady ? .ok : .serviceUnavailable)
        case "/metrics":
            refresh()
            var headers = HTTPFields()
            headers[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
            return Response(
                status: .ok,
                headers: headers,
                body: .init(byteBuffer: ByteBuffer(string: registry.exposition()))
            )
        default: return Problem.notFound("the admin listener has /healthz, /readyz and /metrics").response
        }
    }
}

/// Whether calls should come here, and why not.
struct Readiness: Sendable {
    struct Check: Sendable {
        var name: String
        var isFine: Bool
        /// A check that only warns does not take the node out.
        var isVital: Bool
        var detail: String
    }

    var checks: [Check]
    var isReady: Bool { checks.allSatisfy { $0.isFine || !$0.isVital } }

    var json: JSON {
        let checks = checks.map { check -> JSON in
            ["name": .string(check.name), "ok": .bool(check.isFine), "detail": .string(check.detail)]
        }
        return ["status": .string(isReady ? "ready" : "not ready"), "checks": .array(checks)]
    }
}
