import EngineStore
import FoundationEssentials
import Logging
import Model
import NIOConcurrencyHelpers
import Testing

@testable import Gateway

/// The owner of a captured call, and the behavior when more calls arrive than can be written.
struct CaptureRecorderTests {
    private final class Sink: CaptureSink {
        let captures: [RunningCapture]
        /// The number of exchanges that it accepts before it reports that it is full.
        let room: Int
        let taken = NIOLockedValueBox<[CapturedExchange]>([])
        /// The number of recorded calls of the capture `last`.
        let lastCalls = NIOLockedValueBox(0)
        private let last = CaptureRecorderTests.capture("last", "hr.mobile.last")

        init(_ captures: [RunningCapture], room: Int = .max) {
            self.captures = captures + [last]
            self.room = room
        }

        func running() async throws(StoreError) -> [RunningCapture] { captures }

        func record(_ exchange: CapturedExchange, in id: UUID, of tenant: TenantID) async throws(StoreError) -> Int {
            if tenant == last.tenant {
                return lastCalls.withLockedValue { calls in
                    calls += 1
                    return calls
                }
            }
            return taken.withLockedValue { taken in
                guard taken.count < room else { return 0 }
                taken.append(exchange)
                return taken.count
            }
        }
    }

    private static func capture(_ tenant: TenantID, _ key: String, isSole: Bool = false) -> RunningCapture {
        RunningCapture(
            tenant: tenant,
            id: UUID(),
            app: "shop",
            vendor: .ipns,
            endsAt: Timestamp(seconds: 1),
            keys: [RunningCapture.Key(value: key)],
            isSole: isSole
        )
    }

    private static func item(_ body: String, owner: CallRecord.Owner? = nil) -> CaptureRecorder.Item {
        var record = CallRecord()
        record.owner = owner
        return CaptureRecorder.Item(
            call: VendorRequest(route: "ipns.other", path: "/ipns/x", body: Array(body.utf8)),
            vendor: .ipns,
            answer: VendorResponse(status: 200),
            record: record
        )
    }

    // I6.
    @Test func aCallIsRecordedForItsOwnerOnly() {
        let (acme, other) = (Self.capture("acme", "hr.mobile.acme"), Self.capture("other", "hr.mobile.other"))
        func owner(_ item: CaptureRecorder.Item, _ captures: [RunningCapture]) -> TenantID? {
            CaptureRecorder.capture(of: item, among: captures)?.tenant
        }
        let known = CallRecord.Owner(tenant: "other", app: "shop")
        #expect(owner(Self.item("hr.mobile.acme", owner: known), [acme, other]) == "other")
        #expect(owner(Self.item("hr.mobile.acme", owner: known), [acme]) == nil)
        #expect(owner(Self.item("{\"a\":\"hr.mobile.acme\"}"), [acme, other]) == "acme")
        #expect(owner(Self.item("hr.mobile.acme hr.mobile.other"), [acme, other]) == nil)
        #expect(owner(Self.item("who"), [acme]) == nil)
        #expect(owner(Self.item("who"), [Self.capture("acme", "hr.mobile.acme", isSole: true)]) == "acme")
        #expect(owner(Self.item("short hr"), [Self.capture("acme", "hr")]) == nil)
    }

    private func offer(
        _ recorder: CaptureRecorder,
        _ count: Int,
        body: String = "hr.mobile.acme",
        of tenant: TenantID = "acme"
    ) {
        for _ in 0..<count {
            let item = Self.item(body, owner: CallRecord.Owner(tenant: tenant, app: "shop"))
            recorder.offer(item.call, item.answer, item.record, vendor: .ipns)
        }
    }

    /// Drains the queue until the sink has everything: the sink has then received a call that was offered last.
    private func drained(
        _ recorder: CaptureRecorder,
        _ sink: Sink,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { await recorder.drain() }
            let end = ContinuousClock.now + .seconds(120)
            while sink.lastCalls.withLockedValue({ $0 }) == 0, ContinuousClock.now < end {
                // A full queue drops the call, so it is offered again.
                offer(recorder, 1, body: "hr.mobile.last", of: "last")
                try await Task.sleep(for: .milliseconds(5))
            }
            group.cancelAll()
        }
        #expect(
            sink.lastCalls.withLockedValue { $0 } > 0,
            "not drained within two minutes",
            sourceLocation: sourceLocation
        )
    }

    @Test func nothingIsRecordedBeforeACaptureIsKnown() async throws {
        let sink = Sink([Self.capture("acme", "hr.mobile.acme")])
        let recorder = CaptureRecorder(sink: sink, logger: Logger(label: "test"))
        offer(recorder, 3)
        await recorder.refresh()
        offer(recorder, 2)
        try await drained(recorder, sink)
        #expect(sink.taken.withLockedValue { $0.count } == 2)
    }

    @Test func aFullQueueDropsWithoutWaiting() async throws {
        let sink = Sink([Self.capture("acme", "hr.mobile.acme")])
        let recorder = CaptureRecorder(sink: sink, logger: Logger(label: "test"))
        await recorder.refresh()
        offer(recorder, CaptureRecorder.queueLimit + 50)
        try await drained(recorder, sink)
        #expect(sink.taken.withLockedValue { $0.count } == CaptureRecorder.queueLimit)
        // The queue is also limited by bytes: three bodies of 3 MiB do not fit, two do.
        let second = Sink([Self.capture("acme", "hr.mobile.acme")])
        let fresh = CaptureRecorder(sink: second, logger: Logger(label: "test"))
        await fresh.refresh()
        offer(fresh, 3, body: String(repeating: "a", count: 3 << 20))
        try await drained(fresh, second)
        #expect(second.taken.withLockedValue { $0.count } == 2)
    }

    @Test func aFullCaptureGetsNoFurtherExchanges() async throws {
        let sink = Sink([Self.capture("acme", "hr.mobile.acme")], room: 2)
        let recorder = CaptureRecorder(sink: sink, logger: Logger(label: "test"))
        await recorder.refresh()
        offer(recorder, 5)
        try await drained(recorder, sink)
        // The list of captures from before the end still contains it; it stays ended.
        await recorder.refresh()
        #expect(sink.taken.withLockedValue { $0.count } == 2)
        #expect(sink.taken.withLockedValue { $0.first?.request.body } == "<text 14>")
    }
}
