import HTTPTypes
import Hummingbird
import Model
import NIOConcurrencyHelpers
import NIOCore
import TestKit
import Testing

@testable import GatewayHTTP

/// The stream of `GET /v1/events?follow=true`, with a peer that reads or does not read.
@Suite(.timeLimit(.minutes(10))) struct EventFollowerTests {
    /// The bytes that the peer has received, and whether it reads more.
    private final class Peer: Sendable {
        private let text = NIOLockedValueBox("")
        private let closings = Tally()
        let isStuck: Bool

        init(isStuck: Bool = false) { self.isStuck = isStuck }

        var lines: [JSON] {
            text.withLockedValue { $0 }.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) }
        }

        func close() { closings.add(1) }

        func take(_ buffer: ByteBuffer) async throws {
            if isStuck {
                await closings.reaches(1)
                throw ChannelError.ioOnClosedChannel
            }
            text.withLockedValue { $0 += String(buffer: buffer) }
        }
    }

    private struct Writer: ResponseBodyWriter {
        let peer: Peer

        mutating func write(_ buffer: ByteBuffer) async throws { try await peer.take(buffer) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private func event(_ offset: Int64) -> EventRecord {
        EventRecord(offset: offset, at: Timestamp(milliseconds: 0), kind: "sent", app: "shop", vendor: nil)
    }

    /// A log of `count` events, in pages of two.
    private func follower(
        _ count: Int64,
        peer: Peer,
        length: Duration = .milliseconds(1500),
        writeTimeout: Duration = .seconds(30)
    ) -> EventFollower {
        EventFollower(
            length: length,
            stream: ResponseStream(writeTimeout: writeTimeout) { peer.close() },
            generation: "g1"
        ) {
            (after) throws(StoreError) in
            let last = min(after + 2, count)
            let events = after < last ? ((after + 1)...last).map { event($0) } : []
            return EventPage(events: events, through: last, head: count, generation: "g1")
        }
    }

    @Test func aStreamDeliversEveryEventOnceWithAPositionToResume() async throws {
        let peer = Peer()
        let writer = Writer(peer: peer)
        try await follower(5, peer: peer).run(after: 1, into: writer)
        #expect(peer.lines.map { $0["offset"]?.int } == [2, 3, 4, 5, 5])
        #expect(peer.lines.last?["kind"] == "stream_ended" && peer.lines.last?["head"] == 5)
        #expect(peer.lines.last?["generation"] == "g1")
    }

    /// Events of another generation may have the same offsets, so the stream passes on none of them.
    @Test func aStreamEndsWhenANewGenerationBegins() async throws {
        let peer = Peer()
        let follower = EventFollower(stream: ResponseStream(to: nil), generation: "g1") { (after) throws(StoreError) in
            EventPage(events: [event(after + 1)], through: after + 1, head: 9, generation: after < 3 ? "g1" : "g2")
        }
        let writer = Writer(peer: peer)
        try await follower.run(after: 0, into: writer)
        #expect(peer.lines.map { $0["offset"]?.int } == [1, 2, 3, 3])
        #expect(peer.lines.last?["kind"] == "stream_ended" && peer.lines.last?["generation"] == "g1")
    }

    @Test func aPeerThatDoesNotReadIsDisconnected() async throws {
        let peer = Peer(isStuck: true)
        let follower = follower(5, peer: peer, length: .seconds(300), writeTimeout: .milliseconds(50))
        await #expect(throws: ChannelError.self) {
            let writer = Writer(peer: peer)
            try await follower.run(after: 0, into: writer)
        }
        #expect(peer.lines.isEmpty)
    }

    @Test func aStoreFailureEndsTheStreamAtItsPosition() async throws {
        let peer = Peer()
        let reads = NIOLockedValueBox(0)
        let follower = EventFollower(stream: ResponseStream(to: nil), generation: "g1") { (after) throws(StoreError) in
            let count = reads.withLockedValue { reads in
                reads += 1
                return reads
            }
            if count > 1 { throw StoreError(.unavailable, "down") }
            return EventPage(events: [event(1)], through: 1, head: 9, generation: "g1")
        }
        let writer = Writer(peer: peer)
        try await follower.run(after: 0, into: writer)
        #expect(peer.lines.map { $0["offset"]?.int } == [1, 1])
        #expect(peer.lines.last?["kind"] == "stream_ended")
    }

    @Test func permitsAreBoundedPerTenantAndNodeAndFreedAgain() throws {
        let limit = EventStreamLimit()
        var taken: [HeldPermit] = []
        for _ in 0..<EventStreamLimit.perTenant { taken.append(try #require(limit.acquire("acme"))) }
        #expect(limit.acquire("acme") == nil)
        for tenant in 0..<(EventStreamLimit.perNode / EventStreamLimit.perTenant - 1) {
            for _ in 0..<EventStreamLimit.perTenant {
                taken.append(try #require(limit.acquire(TenantID("t\(tenant)"))))
            }
        }
        #expect(limit.acquire("another") == nil)
        taken[0].release()
        taken[0].release()
        let again = limit.acquire("acme")
        #expect(again != nil && limit.acquire("acme") == nil)
        // A stream that was never run also releases its permit.
        taken.removeAll()
        #expect(limit.acquire("another") != nil)
        again?.release()
    }

    @Test func permitsAreBoundedPerAccount() throws {
        let limit = EventStreamLimit(perNode: 4, perTenant: 3, perAccount: 2)
        func permit(_ tenant: TenantID, _ account: String) throws -> HeldPermit {
            try #require(limit.acquire(tenant, account: account))
        }
        let kim = [try permit("acme", "kim"), try permit("acme", "kim")]
        #expect(limit.acquire("acme", account: "kim") == nil)
        let lee = try permit("acme", "lee")
        #expect(limit.acquire("acme", account: "choi") == nil, "the tenant has three")
        let other = try permit("other", "kim")
        #expect(limit.acquire("third", account: "kim") == nil, "the node has four")
        kim[0].release()
        kim[0].release()
        #expect(limit.acquire("acme", account: "kim") != nil)
        for permit in kim + [lee, other] { permit.release() }
        #expect(limit.acquire("third", account: "kim") != nil)
    }
}
