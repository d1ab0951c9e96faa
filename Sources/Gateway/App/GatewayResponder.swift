import GatewayHTTP
import HTTPTypes
import Hummingbird
import Logging
import Model
import NIOCore
import NativeHTTP
import Observability

/// Answers all calls from outside: first the native API, then the vendors, otherwise 404 as problem details.
///
/// A class, like `VendorEndpoint`: a waiting call holds one reference instead of copies of all parts.
final class GatewayResponder: HTTPResponder {
    typealias Context = CallContext

    private let mounts: VendorMounts
    private let pages: PageEndpoint?
    private let reports: ReportEndpoint?
    private let vendors: VendorEndpoint
    private let native: NativeRouter
    private let proxies: TrustedProxies
    private let proxied: ProxiedClients?
    private let logger: Logger

    init(
        mounts: VendorMounts,
        pages: PageEndpoint? = nil,
        reports: ReportEndpoint? = nil,
        vendors: VendorEndpoint,
        native: NativeAPI,
        proxies: TrustedProxies = TrustedProxies(),
        proxied: ProxiedClients? = nil,
        logger: Logger
    ) {
        self.mounts = mounts
        self.proxies = proxies
        self.proxied = proxied
        self.logger = logger
        self.pages = pages
        self.reports = reports
        self.vendors = vendors
        self.native = NativeRouter(native)
    }

    func respond(to request: Request, context: CallContext) async throws -> Response {
        var context = context
        let peer = proxied?.client(of: context.channel) ?? context.client
        context.client = peer.isKnown ? proxies.client(peer: peer.text, headers: request.headers) : peer
        let path = request.uri.path
        if path == "/v1" || path.hasPrefix("/v1/") || path == NativeRouter.documentPath {
            return try await native.respond(to: request, context: context)
        }
        if path.hasPrefix("/r/"), let pages {
            let response = await pages.respond(to: path, method: request.method)
            if response.status.code >= 400 { noteRefusal(response, "no such page", context) }
            return response
        }
        if let reports, let id = ReportEndpoint.id(in: path) {
            let response = await reports.respond(to: request, id, context.client, context.channel)
            if response.status.code >= 400 { noteRefusal(response, "report refused", context) }
            return response
        }
        if let match = await match(request, path) {
            context.named("\(match.adapter.vendor) \(match.route.name)")
            let answer = await vendors.respond(
                to: request,
                match: match,
                client: context.client,
                channel: context.channel
            )
            return Response(answer, to: context.channel)
        }
        let response = Problem.notFound("no such path").response
        noteRefusal(response, "no such path", context)
        return response
    }

    /// The dialect of a call: by its path, otherwise by its host.
    private func match(_ request: Request, _ path: String) async -> VendorMounts.Match? {
        if let match = mounts.match(path: path, method: request.method) { return match }
        return await vendors.dialect(ofHostOf: request).flatMap { mounts.other(of: $0) }
    }

    /// Logs a refused call without its path, which may contain anything.
    @inline(never)
    private func noteRefusal(_ response: Response, _ reason: String, _ context: CallContext) {
        logger.info(
            "call refused",
            metadata: [
                LogKey.status: "\(response.status.code)", LogKey.reason: "\(reason)",
                LogKey.peer: "\(context.remoteAddress ?? "?")",
            ]
        )
    }
}
