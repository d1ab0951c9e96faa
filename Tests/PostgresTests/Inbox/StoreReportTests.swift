import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import ObservationStore
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Messages by the names that upstreams gave them (docs/routing.md#later-reports).
@Suite struct StoreReportTests {
    /// Sends a message to a device through the upstream `old`, which names it.
    private func send(_ fixture: StoreFixture, named reference: String) async throws -> MessageID {
        let device = try await fixture.register("k1", token: "aa01")
        let (message, lease) = try await fixture.sending(to: [device.identity])
        let order = UpstreamOrder(
            id: UpstreamCallID(epoch: lease.epoch, number: 1),
            upstream: "old",
            call: UpstreamCall(VendorRequest(route: "send", path: "/send"), targets: [0]),
            targets: lease.targets
        )
        #expect(try await fixture.delivery.begin(order, of: lease, by: fixture.node) == .begun)
        var progress = try await fixture.progress(lease, [0], transport: "upstream:old")
        progress.calls = [UpstreamCallEnd(id: order.id, reference: reference)]
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(1))
        return message.id
    }

    @Test func aMessageIsFoundByTheVendorsNameOfIt() async throws {
        let fixture = try await StoreFixture.make()
        let message = try await send(fixture, named: "m-1")
        let found = try await fixture.ask(FindCalledMessages("old", ["m-1", "m-2"]))
        #expect(found.mapValues(\.id) == ["m-1": message] && found["m-1"]?.app == "shop")
        #expect(try await fixture.ask(FindCalledMessages("other", ["m-1"])).isEmpty)
        #expect(try await fixture.ask(FindCalledMessages("old", ["m-1"]), in: fixture.other).isEmpty)
    }

    // UPMC reports by number, with a change of the badge: an app that got the vendor's push has the vendor's SENDMSG_SEQNO.
    @Test func aReceiptWithABadgeFindsTheMessageByTheVendorsName() async throws {
        let fixture = try await StoreFixture.make()
        let message = try await send(fixture, named: "20480")
        let scope = fixture.scope
        let now = try await fixture.now()
        func report(_ name: String) async throws -> ReceiptReply {
            let holder = BadgeHolder(key: "k1")
            let receipt = AcknowledgeMessage(scope, .number(name), holder, .read, .keep, at: now)
            return try await fixture.ask(receipt).reply
        }
        #expect(try await report("20480") == .orphan, "the upstream is not one of the tenant")
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.credential (tenant_id, credential_id, kind, sealed, fingerprint, origin) VALUES
                ('\(fixture.acme)', 'old', 'upstream-\(scope.vendor)', '\\x01', '\\x01', 'api');
            """
        )
        #expect(try await report("20480") == .recorded, "the receipt of \(message)")
        #expect(try await report("20480") == .repeated)
        #expect(try await report("20481") == .orphan)
    }

    // An app reports a push of the vendor's by the vendor's name of it, also where that name is a UUID in another spelling.
    @Test(arguments: ["m-1", "3F0C2C1E-0A55-4F6E-9A3C-5D2B9A1E7C11"])
    func aReceiptByTheVendorsNameIsThatOfTheMessage(name: String) async throws {
        let fixture = try await StoreFixture.make()
        let message = try await send(fixture, named: name)
        let scope = fixture.scope
        let stored = MessageReference.stored(name)
        #expect(try await fixture.ask(FindOwner(scope, stored)) == .unknown, "the upstream is not one of the tenant")
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.credential (tenant_id, credential_id, kind, sealed, fingerprint, origin) VALUES
                ('\(fixture.acme)', 'old', 'upstream-\(scope.vendor)', '\\x01', '\\x01', 'api');
            """
        )
        #expect(try await fixture.ask(FindOwner(scope, stored)) == .upstream("old", hasPaidFallback: false))
        #expect(try await fixture.ask(FindOwner(AppScope(app: "none", vendor: scope.vendor), stored)) == .unknown)
        #expect(try await fixture.ask(FindOwner(scope, stored), in: fixture.other) == .unknown)
        let reporter = Reporter(key: "k1", phone: nil)
        let now = try await fixture.now()
        let isRecorded: Bool
        if let id = MessageID(text: name) {
            let receipt = RecordReceipt(scope, id, reporter, .received, at: now)
            isRecorded = try await fixture.ask(receipt) == .recorded
        } else {
            let report = ReportNumber(scope, DeviceCaller(key: "k1"), number: name, .received, at: now)
            isRecorded = try await fixture.ask(report) == .recorded
        }
        #expect(isRecorded, "the receipt of \(message)")
    }
}
