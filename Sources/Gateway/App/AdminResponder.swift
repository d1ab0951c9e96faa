import GatewayHTTP
import HTTPTypes
import Hummingbird
import Logging
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
    let logger: Logger
    /// Whether the listener is open to this machine only. Its callers then name the machine or an address, not a domain.
    var isLocal = false

    func respond(to request: Request, context: CallContext) async throws -> Response {
        let response = await answer(request)
        if response.status.code >= 400 {
            logger.info(
                "admin call refused",
                metadata: [
                    LogKey.status: "\(response.status.code)", LogKey.peer: "\(context.remoteAddress ?? "?")",
                ]
            )
        }
        return response
    }

    private func answer(_ request: Request) async -> Response {
        guard request.method == .get || request.method == .head else {
            return Problem.methodNotAllowed(request.method.rawValue).response
        }
        guard !isLocal || Self.isLocal(request.head.authority) else {
            return Problem.notFound("name this machine by localhost or its address").response
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

    /// False for a domain: a web page whose domain leads to this machine could otherwise read the metrics through a browser that runs here.
    static func isLocal(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty else { return true }
        if authority.hasPrefix("[") { return true }
        let host = authority.prefix { $0 != ":" }.lowercased()
        return host == "localhost" || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
