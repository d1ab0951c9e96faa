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

        init(_ captures: [RunningCapture], room: Int = .max) {
            self.captures = captures
            self.room = room
        }

        func running() async throws(StoreError) -> [RunningCapture] { captures }

        func record(_ exchange: CapturedExchange, in id: UUID, of tenant: TenantID) async throws(StoreError) -> Int {
            taken.withLockedValue { taken in
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

    private func offer(_ recorder: CaptureRecorder, _ count: Int, body: String = "hr.mobile.acme") {
        for _ in 0..<count {
            let item = Self.item(body, owner: CallRecord.Owner(tenant: "acme", app: "shop"))
            recorder.offer(item.call, item.answer, item.record, vendor: .ipns)
        }
    }

    /// Writes what the queue contains, as at the end of the service: a canceled drain ends when the queue is empty. Later offers are dropped.
    private func drain(_ recorder: CaptureRecorder) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await recorder.drain() }
            group.cancelAll()
        }
    }

    @Test func nothingIsRecordedBeforeACaptureIsKnown() async throws {
        let sink = Sink([Self.capture("acme", "hr.mobile.acme")])
        let recorder = CaptureRecorder(sink: sink, logger: Logger(label: "test"))
        offer(recorder, 3)
        await recorder.refresh()
        offer(recorder, 2)
        await drain(recorder)
        #expect(sink.taken.withLockedValue { $0.count } == 2)
    }

    @Test func aFullQueueDropsWithoutWaiting() async throws {
        let sink = Sink([Self.capture("acme", "hr.mobile.acme")])
        let recorder = CaptureRecorder(sink: sink, logger: Logger(label: "test"))
        await recorder.refresh()
        offer(recorder, CaptureRecorder.queueLimit + 50)
        await drain(recorder)
        #expect(sink.taken.withLockedValue { $0.count } == CaptureRecorder.queueLimit)
        // The queue is also limited by bytes: three bodies of 3 MiB do not fit, two do.
        let second = Sink([Self.capture("acme", "hr.mobile.acme")])
        let fresh = CaptureRecorder(sink: second, logger: Logger(label: "test"))
        await fresh.refresh()
        offer(fresh, 3, body: String(repeating: "a", count: 3 << 20))
        await drain(fresh)
        #expect(second.taken.withLockedValue { $0.count } == 2)
    }

    @Test func aFullCaptureGetsNoFurtherExchanges() async throws {
        let sink = Sink([Self.capture("acme", "hr.mobile.acme")], room: 2)
        let recorder = CaptureRecorder(sink: sink, logger: Logger(label: "test"))
        await recorder.refresh()
        offer(recorder, 5)
        await drain(recorder)
        // The list of captures from before the end still contains it; it stays ended.
        await recorder.refresh()
        #expect(sink.taken.withLockedValue { $0.count } == 2)
        #expect(sink.taken.withLockedValue { $0.first?.request.body } == "<text 14>")
    }
}
