import Commands
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Logging
import Model
import NIOCore
import Observability
import Outgoing

/// Receives the receipts that vendors report later, about messages that the gateway has sent through them: `POST /upstream/<128 random bits>`, with any further path
/// (docs/routing.md#later-reports). Knowledge of the name permits reports.
struct ReportEndpoint: Sendable {
    /// The length of a name: 32 lower-case hex digits.
    private static let idLength = 32
    /// 64 KiB: a vendor reports some hundred targets at a time.
    private static let bodyLimitBytes = LargeBodies.smallBytes

    let upstreams: OpenUpstreams
    let adapters: [Vendor: any VendorAdapter]
    let handler: CommandHandler
    let limiter: CallLimiter
    let logger: Logger

    /// The name in a path of this endpoint; nil: the path is another one. A hub may have the name `upstream`. This runs for every call, so it
    /// splits the path by bytes.
    static func id(in path: String) -> String? {
        // Every call of a vendor asks: without a list of its segments.
        guard path.utf8.drop(while: { $0 == UInt8(ascii: "/") }).starts(with: "upstream".utf8) else { return nil }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2)
        guard parts.count >= 2, parts[0].elementsEqual("upstream".utf8), parts[1].count == idLength,
            parts[1].allSatisfy({ HexCoding.value(of: $0) != nil })
        else { return nil }
        return String(Substring(parts[1]))
    }

    func respond(to request: Request, _ id: String, _ client: ClientAddress, _ channel: any Channel) async -> Response {
        let address = client.text
        let isLimited = limiter.applies(to: address)
        if isLimited, let excess = limiter.excess(.unknown, LimitedName.network(address)) {
            limiter.refused(excess, from: address)
            return Problem.limited(excess).response
        }
        guard let upstream = upstreams.upstream(reportingAs: id),
            let adapter = adapters[upstream.settings.vendor] as? any UpstreamAdapter
        else {
            if isLimited { limiter.charge(.unknown, LimitedName.network(address)) }
            return Problem.notFound("no such path").response
        }
        let body: [UInt8]
        do throws(BodyReader.Failure) {
            // Such a body is a small one.
            body = try await BodyReader.read(
                request,
                on: channel,
                from: limiter.limited(address),
                limitBytes: Self.bodyLimitBytes
            ) { (_, _) async throws(BodyReader.Failure) in }
        } catch .noRoom(let excess) {
            limiter.refused(excess, from: address)
            return Problem.limited(excess).response
        } catch {
            return Problem.tooLarge(Self.bodyLimitBytes).response
        }
        let call = VendorRequest(
            route: "report",
            method: request.method,
            path: request.uri.path,
            query: request.uri.query,
            headers: request.headers,
            body: body,
            remoteAddress: address,
            receivedAt: handler.now
        )
        guard request.method == .post, let reports = adapter.reports(in: call, settings: upstream.settings) else {
            return Problem.invalid("body", "is not a report of this vendor").response
        }
        return await record(reports, upstream)
    }

    private func record(_ reports: [UpstreamReport], _ upstream: OpenUpstreams.Upstream) async -> Response {
        let key = upstream.server.credential
        do throws(StoreError) {
            let count = try await handler.record(reports, of: key, in: upstream.settings.vendor)
            logger.debug(
                "an upstream reported",
                metadata: [
                    LogKey.tenant: "\(key.tenant)", LogKey.credential: "\(key.credential)", LogKey.count: "\(count)",
                ]
            )
            return Response(status: .ok)
        } catch {
            // The vendor repeats its call.
            return Problem.unavailable(5).response
        }
    }
}
