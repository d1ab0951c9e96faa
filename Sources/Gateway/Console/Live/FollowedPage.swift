import AccountStore
import GatewayHTTP
import Model
import WebConsole

/// An open page of a person: reads its parts, and whether the person may still see it.
struct FollowedPage: Sendable {
    let parts: ConsoleParts
    let caller: ConsoleCaller
    let match: PageMatch
    let request: PageRequest
    let context: CallContext
    let hash: [UInt8]

    var follower: PageFollower {
        PageFollower(
            head: { await parts.live.head(of: caller.tenant) },
            fragments: { head, fresh in await fragments(at: head, since: fresh) },
            isOpen: { try await isOpen() }
        )
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
