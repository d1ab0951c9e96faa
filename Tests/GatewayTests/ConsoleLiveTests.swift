import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOConcurrencyHelpers
import NIOCore
import Observability
import Testing

@testable import AccountStore
@testable import ConsoleHTTP
@testable import PageParts
@testable import WebConsole

/// Open pages that update themselves: their limits, and the reads that they share.
@Suite struct ConsoleLiveTests {
    @Test func viewersShareAReadThatIsNewEnough() async throws {
        let reads = SharedReads<String, Int>()
        let count = NIOLockedValueBox(0)
        func value(_ key: String, since: ContinuousClock.Instant? = nil) async -> Int {
            await reads.value(key, maxAge: .seconds(3600), since: since) {
                count.withLockedValue {
                    $0 += 1
                    return $0
                }
            }
        }
        #expect(await value("a") == 1)
        #expect(await value("a") == 1, "another viewer shares it")
        #expect(await value("b") == 2, "another page does not")
        // A viewer that has just changed something must not see what was read before.
        let changed = ContinuousClock.now
        #expect(await value("a", since: changed) == 3)
        #expect(await value("a", since: changed) == 3)
        #expect(await value("a") == 3)
        #expect(await reads.value("a", maxAge: .zero, { 9 }) == 9, "an old one is read again")
    }

    /// A browser's tabs that were opened together are checked together.
    @Test func tabsShareTheCheckOfTheirSession() async throws {
        let live = LiveUpdates(ConsoleCounts()) { _ in 0 }
        let count = NIOLockedValueBox(0)
        func check(_ hash: UInt8, maxAge: Duration = .seconds(3600), fails: Bool = false) async throws {
            _ = try await live.session([hash], maxAge: maxAge) { () async throws(StoreError) -> ConsoleSession? in
                count.withLockedValue { $0 += 1 }
                if fails { throw StoreError(.unavailable, "down") }
                return nil
            }
        }
        try await check(1)
        try await check(1)
        #expect(count.withLockedValue { $0 } == 1)
        try await check(1, maxAge: .zero)
        #expect(count.withLockedValue { $0 } == 2, "an old one is read again")
        try await check(2)
        #expect(count.withLockedValue { $0 } == 3, "the session of another browser")
        await #expect(throws: StoreError.self) { try await check(3, fails: true) }
    }

    @Test func openPagesAreLimitedByAccountTenantAndNode() throws {
        let live = LiveUpdates(ConsoleCounts()) { _ in 0 }
        var kept: [HeldPermit] = []
        func open(_ tenant: TenantID, _ account: String) -> Bool {
            guard let permit = live.acquire(tenant, account: account) else { return false }
            kept.append(permit)
            return true
        }
        for _ in 0..<LiveUpdates.perAccount { #expect(open("acme", "kim")) }
        #expect(!open("acme", "kim") && open("acme", "lee"))
        while kept.count < LiveUpdates.perTenant { #expect(open("acme", "account-\(kept.count)")) }
        #expect(!open("acme", "one more") && open("other", "kim"))
        while kept.count < LiveUpdates.perNode { #expect(open("other", "account-\(kept.count)")) }
        #expect(!open("third", "kim"))
        kept.removeFirst().release()
        #expect(open("third", "kim") && !open("acme", "kim"))
    }

    // MARK: Streams

    /// The bytes that the peer has received.
    private struct Writer: ResponseBodyWriter {
        let text: NIOLockedValueBox<String>

        mutating func write(_ buffer: ByteBuffer) async throws {
            text.withLockedValue { $0 += String(buffer: buffer) }
        }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private func sent(by follower: PageFollower) async throws -> String {
        let text = NIOLockedValueBox("")
        let writer = Writer(text: text)
        try await ResponseStream(to: nil).run(into: writer) { parts in try await follower.run(into: &parts) }
        return text.withLockedValue { $0 }
    }

    private func event(_ id: String, _ html: String, at offset: Int64) -> String {
        String(decoding: Fragment(id: id, html: html).event(id: "\(offset)"), as: UTF8.self)
    }

    /// The browser opens the next stream by itself. It has every part of the page, also one that changed while no stream was open.
    @Test func aStreamThatIsOverIsFollowedByOneWithEveryPart() async throws {
        let figure = NIOLockedValueBox("1")
        let page = SharedPage()
        var limits = PageFollower.Limits()
        (limits.length, limits.interval, limits.heartbeat) = (.zero, .zero, .seconds(3600))
        let follower = PageFollower(
            limits: limits,
            head: { 7 },
            page: { head, since in
                await page.current(at: head, since: since, pace: LivePace(shortest: .zero)) { _ in
                    let html = figure.withLockedValue { $0 }
                    let parts = [Fragment(id: "sentence", html: "same"), Fragment(id: "block-0", html: html)]
                    return SharedPage.Reading(fragments: parts, head: head, began: .now)
                }
            },
            isOpen: { false }
        )
        let same = event("sentence", "same", at: 7)
        let first = try await sent(by: follower)
        #expect(first == "retry: 3000\n\n" + same + event("block-0", "1", at: 7), "not ended: \(first)")
        figure.withLockedValue { $0 = "2" }
        let second = try await sent(by: follower)
        #expect(second == "retry: 3000\n\n" + same + event("block-0", "2", at: 7), "\(second)")
    }

    /// The control: an open stream sends what has changed, and only the end of the session ends the page.
    @Test func anOpenStreamSendsWhatHasChanged() async throws {
        let readings = NIOLockedValueBox<Int64>(0)
        let page = SharedPage()
        var limits = PageFollower.Limits()
        (limits.length, limits.interval, limits.heartbeat) = (.seconds(3600), .zero, .zero)
        let follower = PageFollower(
            limits: limits,
            head: {
                readings.withLockedValue { readings -> Int64 in
                    readings += 1
                    return readings
                }
            },
            page: { head, since in
                await page.current(at: head, since: since, pace: LivePace(shortest: .zero)) { _ in
                    let parts = [Fragment(id: "sentence", html: "same"), Fragment(id: "block-0", html: "\(head)")]
                    return SharedPage.Reading(fragments: parts, head: head, began: .now)
                }
            },
            isOpen: { readings.withLockedValue { $0 } < 3 }
        )
        let all = try await sent(by: follower)
        let expected = [
            "retry: 3000\n\n", ": \n\n", event("sentence", "same", at: 1), event("block-0", "1", at: 1), ": \n\n",
            event("block-0", "2", at: 2), "event: ended\ndata: {}\n\n",
        ]
        #expect(all == expected.joined(), "\(all)")
    }
}
