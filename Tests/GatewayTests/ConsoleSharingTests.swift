import Foundation
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

extension SharedPages {
    /// The number of different pages.
    fileprivate var count: Int { entries.withLockedValue { $0.count } }
}

/// Open pages that several people see: who shares one, and what each is sent.
@Suite struct ConsoleSharingTests {
    /// The data of a page, which counts how often it is read.
    private final class Figures: Sendable {
        private struct State {
            var readings = 0
            /// Nil: the page cannot be read.
            var html: String? = "1"
        }

        private let state = NIOLockedValueBox(State())

        var readings: Int { state.withLockedValue { $0.readings } }
        func set(_ html: String?) { state.withLockedValue { $0.html = html } }
        func reading(at head: Int64, began: ContinuousClock.Instant = .now) -> SharedPage.Reading? {
            state.withLockedValue { state in
                state.readings += 1
                guard let html = state.html else { return nil }
                let parts = [Fragment(id: "sentence", html: "same"), Fragment(id: "block-0", html: html)]
                return SharedPage.Reading(fragments: parts, head: head, began: began)
            }
        }
    }

    private static let often = LivePace(shortest: .zero, renewal: .seconds(3600))
    private static let rarely = LivePace(shortest: .seconds(3600), longest: .seconds(3600), renewal: .seconds(3600))

    private func state(
        of page: SharedPage,
        _ figures: Figures,
        at head: Int64,
        since: ContinuousClock.Instant,
        pace: LivePace = ConsoleSharingTests.often
    ) async -> SharedPage.State? {
        await page.current(at: head, since: since, pace: pace) { _ in figures.reading(at: head) }
    }

    private func event(_ id: String, _ html: String, at offset: Int64) -> String {
        String(decoding: Fragment(id: id, html: html).event(id: "\(offset)"), as: UTF8.self)
    }

    private func text(_ buffers: [ByteBuffer]?) -> String? { buffers.map { $0.map { String(buffer: $0) }.joined() } }

    // MARK: Reading

    @Test func viewersReadAPageOnce() async throws {
        let (page, figures, since) = (SharedPage(), Figures(), ContinuousClock.now)
        async let first = state(of: page, figures, at: 1, since: since, pace: Self.rarely)
        async let second = state(of: page, figures, at: 1, since: since, pace: Self.rarely)
        let states = await [first, second]
        #expect(figures.readings == 1)
        let whole = event("sentence", "same", at: 1) + event("block-0", "1", at: 1)
        for state in states {
            #expect(text(state?.events(after: 0)) == whole)
            #expect(state?.events(after: 0).count == 2, "the parts themselves, not a copy of all")
        }
        // The log has grown, and the next reading is not due.
        let third = await state(of: page, figures, at: 2, since: since, pace: Self.rarely)
        #expect(figures.readings == 1 && third?.version == 1)
        // A viewer that has just opened the page waits rather than get what is older than it.
        let early = await state(of: page, figures, at: 2, since: .now, pace: Self.rarely)
        #expect(early == nil && figures.readings == 1)
        // The control: when it is due, it is read again.
        _ = await state(of: page, figures, at: 2, since: since)
        #expect(figures.readings == 2)
    }

    @Test func aPageWithoutChangesIsNotReadAgain() async throws {
        let (page, figures, since) = (SharedPage(), Figures(), ContinuousClock.now)
        for _ in 0..<3 { _ = await state(of: page, figures, at: 1, since: since) }
        #expect(figures.readings == 1)
        let renewed = LivePace(shortest: .zero, renewal: .zero)
        let state = await state(of: page, figures, at: 1, since: since, pace: renewed)
        #expect(figures.readings == 2 && state?.version == 1, "what depends on the time is the same")
    }

    /// Nothing is kept for a viewer that does not read: it gets the newest parts that it lacks, once.
    @Test func aSlowViewerGetsTheNewestParts() async throws {
        let (page, figures, since) = (SharedPage(), Figures(), ContinuousClock.now)
        let first = try #require(await state(of: page, figures, at: 1, since: since))
        for number in 2...4 {
            figures.set("\(number)")
            let fast = try #require(await state(of: page, figures, at: Int64(number), since: since))
            let change = event("block-0", "\(number)", at: Int64(number))
            #expect(text(fast.events(after: number - 1)) == change)
        }
        let last = try #require(await state(of: page, figures, at: 4, since: since))
        #expect(text(last.events(after: first.version)) == event("block-0", "4", at: 4))
        #expect(text(last.events(after: 0)) == event("sentence", "same", at: 1) + event("block-0", "4", at: 4))
        #expect(last.events(after: 0).count == 2, "the parts themselves, not a copy for this viewer")
        #expect(last.events(after: last.version).isEmpty)
    }

    @Test func aPageThatCannotBeReadSendsNothing() async throws {
        let (page, figures, since) = (SharedPage(), Figures(), ContinuousClock.now)
        _ = await state(of: page, figures, at: 1, since: since)
        figures.set(nil)
        let failed = try #require(await state(of: page, figures, at: 2, since: .now))
        #expect(failed.events(after: 0).isEmpty && failed.events(after: 1).isEmpty, "not what was read before")
        figures.set("2")
        // Read again without a change of the log.
        let later = try #require(await state(of: page, figures, at: 2, since: since))
        #expect(text(later.events(after: 1)) == event("block-0", "2", at: 2))
    }

    /// Data that another page has asked for does not become newer by being shown.
    @Test func sharedAnswersKeepTheirTimeAndTheirOffset() async throws {
        let (figures, asked) = (Figures(), ContinuousClock.now.advanced(by: .seconds(-7200)))
        let page = SharedPage()
        func old() async -> SharedPage.State? {
            await page.current(at: 2, since: asked, pace: Self.rarely) { _ in figures.reading(at: 2, began: asked) }
        }
        let first = await old()
        #expect(first?.version == 1)
        _ = await old()
        #expect(figures.readings == 2, "the data is older than the time between readings")
        let other = SharedPage()
        func behind(at head: Int64) async -> SharedPage.State? {
            await other.current(at: head, since: asked, pace: Self.often) { _ in figures.reading(at: 1) }
        }
        _ = await behind(at: 2)
        _ = await behind(at: 2)
        #expect(figures.readings == 4, "the log had grown when the page was written")
        // The control.
        _ = await behind(at: 1)
        #expect(figures.readings == 4)
    }

    /// Forms keep pages apart, not the answers behind them: after a change by somebody else they are read when they are due, not before.
    @Test func answersAreReadOnceForAllTabs() async throws {
        let live = LiveUpdates(ConsoleCounts()) { _ in 0 }
        let (reads, since) = (NIOLockedValueBox(0), ContinuousClock.now)
        let one = try key { $0.path = ["approvals"] }
        let tab = try key { viewer in
            viewer.path = ["approvals"]
            viewer.once = "once-2"
        }
        func head(
            _ viewer: (key: PageKey, request: PageRequest),
            at head: Int64,
            since: ContinuousClock.Instant
        ) async -> Int64 {
            let key = viewer.key.ofAnswers(for: viewer.request.account)
            // None is due while the test runs.
            let answers = await live.answers(key, maxAge: .seconds(3600), since: since) {
                reads.withLockedValue { $0 += 1 }
                let (at, began) = (Timestamp(seconds: 0), ContinuousClock.now)
                return LiveUpdates.ReadAnswers(answers: Answers(), head: head, at: at, began: began, spent: .zero)
            }
            return answers.head
        }
        #expect(await head(one, at: 1, since: since) == 1)
        #expect(await head(tab, at: 2, since: since) == 1)
        #expect(reads.withLockedValue { $0 } == 1)
        // The control: other rights, and a page that was opened after the answers were read.
        let analyst = try key { viewer in
            viewer.path = ["approvals"]
            viewer.role = .analyst
        }
        #expect(await head(analyst, at: 3, since: since) == 3)
        #expect(await head(tab, at: 4, since: .now) == 4)
        #expect(reads.withLockedValue { $0 } == 3)
    }

    /// A twentieth of the time, for all pages together.
    @Test func slowPagesAreReadLessOften() {
        #expect(LivePace().interval == LiveUpdates.interval)
        #expect(LivePace(spent: .milliseconds(50)).interval == .seconds(2))
        #expect(LivePace(spent: .milliseconds(500)).interval == .seconds(10))
        #expect(LivePace(spent: .seconds(60)).interval == .seconds(15))
    }

    // MARK: Keys

    private struct Viewer {
        var name = "kim"
        var tenant = "acme"
        var role = Role.op
        var isMember = true
        var isPlatform = false
        var path = ["messages"]
        var query: [PageRequest.Parameter] = []
        var language = Language.en
        var zone = "Asia/Seoul"
        var once = "once-1"
    }

    private func request(_ viewer: Viewer, _ match: PageMatch) -> PageRequest {
        var request = PageRequest(
            language: viewer.language,
            tenant: viewer.tenant,
            account: ConsoleAccount(name: viewer.name, role: viewer.role, isPlatform: viewer.isPlatform),
            now: Timestamp(seconds: 0),
            zone: viewer.zone,
            formToken: "form-1",
            onceToken: viewer.once
        )
        request.path = match.fields
        request.query = viewer.query
        return request
    }

    private func key(_ change: (inout Viewer) -> Void = { _ in }) throws -> (key: PageKey, request: PageRequest) {
        var viewer = Viewer()
        change(&viewer)
        let match = try #require(PageMatch(viewer.path, Pages.all, isPost: false))
        let request = request(viewer, match)
        let session = ConsoleSession(
            id: UUID(),
            account: AccountID(UUID()),
            name: viewer.name,
            roles: [],
            hasCodes: false,
            awaitsCode: false,
            isProven: false
        )
        let caller = ConsoleCaller(
            session: session,
            secret: "secret",
            tenant: TenantID(viewer.tenant),
            account: request.account,
            isMember: viewer.isMember,
            origin: "https://console.example",
            timing: PageTiming()
        )
        return (PageKey(caller, match, request), request)
    }

    @Test func peopleWithTheSameRightsShare() throws {
        let one = try key().key
        let colleague = try key { viewer in
            viewer.name = "lee"
            viewer.once = "once-2"
        }
        #expect(colleague.key == one)
        let changes: [(inout Viewer) -> Void] = [
            { $0.tenant = "other" }, { $0.role = .owner }, { $0.role = .analyst }, { $0.role = .author },
            { $0.isMember = false }, { $0.isPlatform = true }, { $0.path = ["messages", "m-1"] },
            { $0.query = [PageRequest.Parameter("state", "sending")] }, { $0.language = .ko }, { $0.zone = "UTC" },
            // Equal texts with other bytes.
            { $0.query = [PageRequest.Parameter("text", "\u{AC00}")] },
            { $0.query = [PageRequest.Parameter("text", "\u{1100}\u{1161}")] },
        ]
        let others = try changes.map { try key($0).key }
        #expect(!others.contains(one) && Set(others).count == others.count)
    }

    /// Authors have rights on own messages, and forms have tokens.
    @Test func whatDependsOnThePersonIsNotShared() throws {
        let author = try key { $0.role = .author }
        let another = try key { viewer in
            viewer.role = .author
            viewer.name = "lee"
        }
        #expect(another.key != author.key)
        let approvals = try key { $0.path = ["approvals"] }
        let tab = try key { viewer in
            viewer.path = ["approvals"]
            viewer.once = "once-2"
        }
        #expect(tab.key != approvals.key)
        let own = approvals.key.request(approvals.request, at: Timestamp(seconds: 7))
        #expect(own.account.name == "kim" && own.formToken == "form-1" && own.onceToken == "once-1")
        #expect(own.now == Timestamp(seconds: 7))
        let message = try key { viewer in
            viewer.path = ["messages", "m-1"]
            viewer.query = [PageRequest.Parameter("zone", "UTC")]
        }
        let shared = message.key.request(message.request, at: Timestamp(seconds: 7))
        #expect(shared.account == ConsoleAccount(name: "", role: .op))
        #expect(shared.formToken.isEmpty && shared.onceToken.isEmpty && shared.now == own.now)
        #expect(shared.path == ["message": "m-1"] && shared.query == message.request.query)
        #expect(shared.tenant == "acme" && shared.zone == "Asia/Seoul" && shared.language == .en)
    }

    @Test func theLastViewerEndsThePage() throws {
        let pages = SharedPages()
        let one = try key().key
        let other = try key { $0.language = .ko }.key
        let first = pages.join(one)
        let (second, third) = (pages.join(one), pages.join(other))
        #expect(second === first && third !== first && pages.count == 2)
        pages.note(one, .milliseconds(300))
        pages.note(other, .milliseconds(200))
        #expect(pages.pace.spent == .milliseconds(500))
        pages.leave(one)
        let joined = pages.join(one)
        #expect(joined === first, "one viewer is left")
        pages.leave(one)
        pages.leave(one)
        #expect(pages.count == 1 && pages.pace.spent == .milliseconds(200))
        pages.note(one, .seconds(1))
        pages.leave(other)
        #expect(pages.count == 0 && pages.pace.spent == .zero)
    }

    // MARK: Sessions

    /// The bytes that the peer has received.
    private struct Writer: ResponseBodyWriter {
        let text: NIOLockedValueBox<String>
        /// The number of buffers of each write of several.
        let together = NIOLockedValueBox<[Int]>([])

        mutating func write(_ buffer: ByteBuffer) async throws {
            text.withLockedValue { $0 += String(buffer: buffer) }
        }
        mutating func write(contentsOf buffers: some Sequence<ByteBuffer>) async throws {
            var count = 0
            for buffer in buffers {
                try await write(buffer)
                count += 1
            }
            together.withLockedValue { $0.append(count) }
        }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private func sent(of page: SharedPage, _ figures: Figures, isOpen: Bool) async throws -> String {
        var limits = PageFollower.Limits()
        (limits.length, limits.interval, limits.heartbeat) = (.milliseconds(200), .milliseconds(5), .zero)
        let follower = PageFollower(
            limits: limits,
            head: { 1 },
            page: { head, since in
                await page.current(at: head, since: since, pace: ConsoleSharingTests.often) { _ in
                    figures.reading(at: head)
                }
            },
            isOpen: { isOpen }
        )
        let text = NIOLockedValueBox("")
        try await ResponseStream(to: nil).run(into: Writer(text: text)) { parts in
            try await follower.run(into: &parts)
        }
        return text.withLockedValue { $0 }
    }

    /// One write for all parts that a viewer lacks: the connection is flushed once.
    @Test func aViewerGetsItsPartsTogether() async throws {
        let (page, figures) = (SharedPage(), Figures())
        var limits = PageFollower.Limits()
        (limits.length, limits.interval, limits.heartbeat) = (.zero, .zero, .seconds(3600))
        let follower = PageFollower(
            limits: limits,
            head: { 1 },
            page: { head, since in
                await page.current(at: head, since: since, pace: ConsoleSharingTests.often) { _ in
                    figures.reading(at: head)
                }
            },
            isOpen: { true }
        )
        let writer = Writer(text: NIOLockedValueBox(""))
        try await ResponseStream(to: nil).run(into: writer) { parts in try await follower.run(into: &parts) }
        #expect(writer.together.withLockedValue { $0 } == [2])
    }

    @Test func aRefusedSessionEndsOnlyItsOwnStream() async throws {
        let (page, figures) = (SharedPage(), Figures())
        async let refused = sent(of: page, figures, isOpen: false)
        async let kept = sent(of: page, figures, isOpen: true)
        let (ended, going) = try await (refused, kept)
        #expect(ended.hasSuffix("event: ended\ndata: {}\n\n") && !ended.contains("event: fragment\n"), "\(ended)")
        #expect(!going.contains("event: ended") && going.contains("event: fragment\n"), "\(going)")
    }
}
