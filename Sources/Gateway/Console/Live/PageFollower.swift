import AccountStore
import GatewayHTTP
import Model
import NIOCore
import ServiceLifecycle
import WebConsole

/// Sends the parts of one open page that have changed, as server-sent events, until the session ends.
struct PageFollower: Sendable {
    /// 5 minutes: shorter than the time limit of common proxies. The browser connects again by itself.
    static let length = Duration.seconds(300)
    /// 15 s between looks at the session, and at most between lines that keep the connection open.
    static let heartbeat = Duration.seconds(15)
    /// 30 s: what depends on the time changes without an event.
    static let renewal = Duration.seconds(30)

    let parts: ConsoleParts
    let caller: ConsoleCaller
    let match: PageMatch
    let request: PageRequest
    let context: CallContext
    let hash: [UInt8]

    /// Writes until the time is over, the session ends, the peer leaves or the node shuts down.
    ///
    /// - Throws: when the peer is gone.
    func run(into writer: inout ResponseStream.Writer) async throws {
        let began = ContinuousClock.now
        let end = began + Self.length
        var shown: [String: String] = [:]
        var position: Int64 = -1
        var renewed = ContinuousClock.now - Self.renewal
        var checked = began
        try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
        while ContinuousClock.now < end, !Task.isShuttingDownGracefully, !Task.isCancelled {
            let head = await parts.live.head(of: caller.tenant) ?? position
            if head != position || ContinuousClock.now - renewed >= Self.renewal {
                // The page is newer than what others have read before, such as after a change by this person.
                let fresh = position < 0 ? began : nil
                for fragment in await fragments(at: head, since: fresh) where shown[fragment.id] != fragment.html {
                    shown[fragment.id] = fragment.html
                    try await writer.write(ByteBuffer(bytes: fragment.event(id: "\(head)")))
                }
                position = head
                renewed = .now
            }
            // However much the page changes: whoever may not see it any longer does not.
            if ContinuousClock.now - checked >= Self.heartbeat {
                guard try await isOpen() else {
                    return try await writer.write(ByteBuffer(string: "event: ended\ndata: {}\n\n"))
                }
                try await writer.write(ByteBuffer(string: ": \n\n"))
                checked = .now
            }
            try await Task.sleep(for: LiveUpdates.interval)
        }
    }

    /// Whether the session still exists with the same roles. An open page does not count as its use.
    private func isOpen() async throws -> Bool {
        let session = try await parts.store.session(hash, isWatching: true)
        return session?.roles == caller.session.roles
    }

    private func fragments(at head: Int64, since fresh: ContinuousClock.Instant?) async -> [Fragment] {
        let view = LiveUpdates.View(
            tenant: caller.tenant,
            path: match.path,
            query: request.query.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }
                .joined(separator: "&"),
            role: caller.account.role,
            isMember: caller.isMember,
            zone: request.zone,
            head: head
        )
        var page = request
        page.now = parts.clock.now()
        // The page's first reading has its rows of the audit.
        var context = context
        context.isRepetition = true
        let (reader, asked) = (PageReader(calls: parts.calls, caller: caller, context: context), page)
        let answers = await parts.live.answers.value(view, maxAge: LiveUpdates.interval, since: fresh) { [match] in
            await reader.answers(of: match.page, asked)
        }
        guard let content = try? match.page.content(page, answers) else { return [] }
        return parts.renderer.fragments(content, page, path: match.path)
    }
}
