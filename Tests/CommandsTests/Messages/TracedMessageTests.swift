import Commands
import DatabaseSupport
import DeliveryEngine
import EngineStore
import Model
import Testing

@testable import Store

struct TracedMessageTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func theContentKeepsTheTraceOfASampledMessageOnly() throws {
        let content = Content(title: "t", body: "b")
        let trace = try #require(TraceContext(parent: Self.parent, state: "a=1"))
        let plain = try #require(ContentCoding.encode(content).object)
        let traced = try #require(ContentCoding.encode(content, trace: trace).object)
        #expect(plain["trace"] == nil && ContentCoding.trace(in: plain) == nil)
        #expect(traced["trace"] == .string(Self.parent + " a=1") && ContentCoding.trace(in: traced) == trace)
        #expect(ContentCoding.decode(traced) == ContentCoding.decode(plain), "not part of the content")
    }

    // The push on any node, and the receipt days later, belong to the trace of the call.
    @Test func aSampledMessageKeepsItsTraceForPushesAndReceipts() async throws {
        let world = try await CommandWorld.make()
        await world.device("k1", phone: "01011111111")
        let trace = try #require(TraceContext(parent: Self.parent))
        var call = world.call
        call.trace = trace
        let submission = Submission(
            content: Content(body: "b"),
            audience: .listed([Addressee(.deviceKey("k1"))])
        )
        let traced = await world.handler.perform([.submission(.submit(submission))], in: call)
        let plain = await world.submit(submission)
        let lease = try #require(traced.handover.first)
        let other = try #require(plain.handover.first)
        #expect(try await world.stores.delivery.load(lease)?.trace == trace)
        #expect(try await world.stores.delivery.load(other)?.trace == nil)
        let ids = [lease.key.message, other.key.message].map { "\($0)" }
        let request = StoreRequest(FindTraces(world.scope, ids + ["unknown"])) { $0 }
        #expect(try await world.handler.run(request, in: world.tenant) == [ids[0]: trace])
    }
}
