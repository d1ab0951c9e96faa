import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOCore
import NativeHTTP
import Observability

/// Answers `/healthz` (the process), `/readyz` (database and credentials) and `/metrics` (Prometheus text).
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
        default: return Problem.notFound("the admin listener serves only /healthz, /readyz and /metrics").response
        }
    }
}
