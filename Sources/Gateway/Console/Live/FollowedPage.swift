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
                    await reading(key, at: head, since: oldest)
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

    private func reading(
        _ key: PageKey,
        at head: Int64,
        since: ContinuousClock.Instant
    ) async -> SharedPage.Reading? {
        let asked = ContinuousClock.now
        var page = key.request(request, at: parts.clock.now())
        let read = await answers(key, page, at: head, since: since)
        let answered = ContinuousClock.now
        // The time of answers counts once, as that of the page which asked for them.
        defer { parts.live.pages.note(key, ContinuousClock.now - answered + (read.began < asked ? .zero : read.spent)) }
        page.now = read.at
        guard let content = try? match.page.content(page, read.answers) else { return nil }
        let fragments = parts.renderer.fragments(content, page, path: match.path)
        return SharedPage.Reading(fragments: fragments, head: read.head, began: read.began)
    }

    private func answers(
        _ key: PageKey,
        _ page: PageRequest,
        at head: Int64,
        since: ContinuousClock.Instant
    ) async -> LiveUpdates.ReadAnswers {
        // The page's first reading has its rows of the audit.
        var context = context
        context.isRepetition = true
        let reader = PageReader(calls: parts.calls, caller: caller, context: context)
        let read: @Sendable () async -> LiveUpdates.ReadAnswers = { [match] in
            let began = ContinuousClock.now
            let answers = await reader.answers(of: match.page, page)
            let spent = ContinuousClock.now - began
            return LiveUpdates.ReadAnswers(answers: answers, head: head, at: page.now, began: began, spent: spent)
        }
        guard match.page.sharing == .answers else { return await read() }
        let (live, key) = (parts.live, key.ofAnswers(for: caller.account))
        return await live.answers(key, maxAge: live.pages.pace.interval, since: since, read)
    }
}
