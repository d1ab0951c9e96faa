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

    /// Writes until the stream is over.
    ///
    /// - Throws: when the peer is gone.
    func run(into writer: inout ResponseStream.Writer) async throws {
        let key = PageKey(caller, match, request)
        let page = parts.live.pages.join(key)
        defer { parts.live.pages.leave(key) }
        try await follower(of: page, key).run(into: &writer)
    }

    private func follower(of page: SharedPage, _ key: PageKey) -> PageFollower {
        PageFollower(
            head: { await parts.live.head(of: caller.tenant) },
            page: { head, since in
                await page.current(at: head, since: since, pace: parts.live.pages.pace) { oldest in
                    await fragments(key, at: head, since: oldest)
                }
            },
            isOpen: { try await isOpen() }
        )
    }

    /// Whether the session still exists with the same roles. An open page does not count as its use.
    private func isOpen() async throws -> Bool {
        let session = try await parts.store.session(hash, isWatching: true)
        return session?.roles == caller.session.roles
    }

    private func fragments(
        _ key: PageKey,
        at head: Int64,
        since: ContinuousClock.Instant
    ) async -> [Fragment]? {
        let began = ContinuousClock.now
        defer { parts.live.pages.note(key, ContinuousClock.now - began) }
        let page = key.request(request, at: parts.clock.now())
        // The page's first reading has its rows of the audit.
        var context = context
        context.isRepetition = true
        let reader = PageReader(calls: parts.calls, caller: caller, context: context)
        let answers: Answers
        if match.page.sharing == .answers {
            let view = LiveUpdates.View(page: key.ofAnswers(for: caller.account), head: head)
            answers = await parts.live.answers.value(view, maxAge: LiveUpdates.interval, since: since) { [match] in
                await reader.answers(of: match.page, page)
            }
        } else {
            answers = await reader.answers(of: match.page, page)
        }
        guard let content = try? match.page.content(page, answers) else { return nil }
        return parts.renderer.fragments(content, page, path: match.path)
    }
}
