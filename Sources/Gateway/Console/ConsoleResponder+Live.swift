import AccountStore
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import PageParts
import WebConsole

/// The stream of a page that updates itself.
extension ConsoleResponder {
    /// `?page=` has the page's path below the tenant, `?query=` its query.
    func stream(_ request: ConsoleRequest, _ caller: ConsoleCaller) async throws -> Response {
        guard request.isRead, let hash = request.hash else { throw ConsoleRefusal(.methodNotAllowed) }
        let path = String((request.query.first { $0.name == "page" }?.value ?? "").drop { $0 == "/" })
        guard let segments = path.isEmpty ? [] : ConsoleCalls.segments(path),
            let match = PageMatch(segments, Pages.all, isPost: false)
        else { throw ConsoleRefusal(.notFound) }
        if let refusal = Self.missingRight(match, caller) { throw refusal }
        guard let permit = parts.live.acquire(caller.tenant, account: caller.session.name) else {
            throw ConsoleRefusal(.busy, retryAfterSeconds: 30)
        }
        var page = pageRequest(request, caller, match)
        page.query = ConsoleRequest.parameters(request.query.first { $0.name == "query" }?.value ?? "")
        page.zone = PageZone.named(page) ?? page.zone
        let followed = FollowedPage(
            parts: parts,
            caller: caller,
            match: match,
            request: page,
            context: request.context,
            hash: hash
        )
        var headers = SecurityHeaders.common
        headers[.contentType] = "text/event-stream"
        headers[.cacheControl] = "no-store"
        // Proxies that collect answers would hold the events back.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        let stream = ResponseStream(to: request.context.channel)
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { writer in
                defer { permit.release() }
                try await stream.run(into: writer) { parts in try await followed.run(into: &parts) }
            }
        )
    }
}
