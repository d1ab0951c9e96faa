import AccountStore
import GatewayHTTP
import Model
import PageParts
import WebConsole

/// An open page of a person: reads its parts, and whether the person may still see it.
///
/// A class: a page is open for minutes, and each function that waits would otherwise hold a copy of all this.
final class FollowedPage: Sendable {
    private let parts: ConsoleParts
    private let caller: ConsoleCaller
    private let match: PageMatch
    private let request: PageRequest
    private let context: CallContext
    private let hash: [UInt8]
    private let key: PageKey

    /// - Parameters:
    ///   - parts: those of the listener.
    ///   - caller: the person.
    ///   - match: the page.
    ///   - request: the request for it.
    ///   - context: the call that opened it.
    ///   - hash: the digest of the session.
    init(
        parts: ConsoleParts,
        caller: ConsoleCaller,
        match: PageMatch,
        request: PageRequest,
        context: CallContext,
        hash: [UInt8]
    ) {
        self.parts = parts
        self.caller = caller
        self.match = match
        self.request = request
        self.context = context
        self.hash = hash
        key = PageKey(caller, match, request)
    }

    /// Writes until the stream is over.
    ///
    /// - Throws: when the peer is gone.
    func run(into writer: inout ResponseStream.Writer) async throws {
        let page = parts.live.pages.join(key)
        defer { parts.live.pages.leave(key) }
        try await follower(of: page).run(into: &writer)
    }

    private func follower(of page: SharedPage) -> PageFollower {
        PageFollower(
            head: { await self.parts.live.head(of: self.caller.tenant) },
            page: { head, since in
                await page.current(at: head, since: since, pace: self.parts.live.pages.pace) { oldest in
                    await self.reading(at: head, since: oldest)
                }
            },
            isOpen: { try await self.isOpen() }
        )
    }

    /// Whether the session still exists with the same roles. An open page does not count as its use.
    private func isOpen() async throws -> Bool {
        let (store, hash) = (parts.store, hash)
        let session = try await parts.live.session(hash) { () async throws(StoreError) in
            try await store.session(hash, isWatching: true)
        }
        return session?.roles == caller.session.roles
    }

    private func reading(at head: Int64, since: ContinuousClock.Instant) async -> SharedPage.Reading? {
        let asked = ContinuousClock.now
        var page = key.request(request, at: parts.clock.now())
        let read = await answers(page, at: head, since: since)
        let answered = ContinuousClock.now
        // The time of answers counts once, as that of the page which asked for them.
        defer { parts.live.pages.note(key, ContinuousClock.now - answered + (read.began < asked ? .zero : read.spent)) }
        page.now = read.at
        guard let content = try? match.page.content(page, read.answers) else { return nil }
        let fragments = parts.renderer.fragments(content, page, path: match.path)
        return SharedPage.Reading(fragments: fragments, head: read.head, began: read.began)
    }

    private func answers(
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
