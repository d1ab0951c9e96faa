import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import ObservationStore
import Testing

@testable import EngineStore
@testable import Store

/// Messages by the names that upstreams gave them (docs/routing.md#later-reports).
@Suite struct StoreReportTests {
    @Test func aMessageIsFoundByTheVendorsNameOfIt() async throws {
        let fixture = try await StoreFixture.make()
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
        progress.calls = [UpstreamCallEnd(id: order.id, reference: "m-1")]
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(1))
        let found = try await fixture.ask(FindCalledMessages("old", ["m-1", "m-2"]))
        #expect(found.mapValues(\.id) == ["m-1": message.id] && found["m-1"]?.app == "shop")
        #expect(try await fixture.ask(FindCalledMessages("other", ["m-1"])).isEmpty)
        #expect(try await fixture.ask(FindCalledMessages("old", ["m-1"]), in: fixture.other).isEmpty)
    }
}
