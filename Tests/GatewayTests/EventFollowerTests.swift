import HTTPTypes
import Hummingbird
import Model
import NIOConcurrencyHelpers
import NIOCore
import TestKit
import Testing

@testable import Gateway

/// The stream of `GET /v1/events?follow=true`, with a peer that reads or does not read.
@Suite(.timeLimit(.minutes(1))) struct EventFollowerTests {
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
        patience: Duration = .seconds(30)
    ) -> EventFollower {
        EventFollower(length: length, patience: patience, hangUp: { peer.close() }) { (after) throws(StoreError) in
            let last = min(after + 2, count)
            let events = after < last ? ((after + 1)...last).map { event($0) } : []
            return EventPage(events: events, through: last, head: count)
        }
    }

    @Test func aStreamDeliversEveryEventOnceWithAPositionToResume() async throws {
        let peer = Peer()
        var writer: any ResponseBodyWriter = Writer(peer: peer)
        try await follower(5, peer: peer).run(after: 1, into: &writer)
        #expect(peer.lines.map { $0["offset"]?.int } == [2, 3, 4, 5, 5])
        #expect(peer.lines.last?["kind"] == "stream_ended" && peer.lines.last?["head"] == 5)
    }

    @Test func aPeerThatDoesNotReadIsDisconnected() async throws {
        let peer = Peer(isStuck: true)
        let follower = follower(5, peer: peer, length: .seconds(300), patience: .milliseconds(50))
        await #expect(throws: ChannelError.self) {
            var writer: any ResponseBodyWriter = Writer(peer: peer)
            try await follower.run(after: 0, into: &writer)
        }
        #expect(peer.lines.isEmpty)
    }

    @Test func aStoreFailureEndsTheStreamAtItsPosition() async throws {
        let peer = Peer()
        let reads = NIOLockedValueBox(0)
        let follower = EventFollower(hangUp: {}) { (after) throws(StoreError) in
            let count = reads.withLockedValue { reads in
                reads += 1
                return reads
            }
            if count > 1 { throw StoreError(.unavailable, "down") }
            return EventPage(events: [event(1)], through: 1, head: 9)
        }
        var writer: any ResponseBodyWriter = Writer(peer: peer)
        try await follower.run(after: 0, into: &writer)
        #expect(peer.lines.map { $0["offset"]?.int } == [1, 1])
        #expect(peer.lines.last?["kind"] == "stream_ended")
    }

    @Test func seatsAreBoundedPerTenantAndNodeAndFreedAgain() throws {
        let seats = EventSeats()
        var taken: [EventSeats.Seat] = []
        for _ in 0..<EventSeats.perTenant { taken.append(try #require(seats.take("acme"))) }
        #expect(seats.take("acme") == nil)
        for tenant in 0..<(EventSeats.perNode / EventSeats.perTenant - 1) {
            for _ in 0..<EventSeats.perTenant { taken.append(try #require(seats.take(TenantID("t\(tenant)")))) }
        }
        #expect(seats.take("another") == nil)
        taken[0].leave()
        taken[0].leave()
        let again = seats.take("acme")
        #expect(again != nil && seats.take("acme") == nil)
        // A stream that was never run also frees its seat.
        taken.removeAll()
        #expect(seats.take("another") != nil)
        again?.leave()
    }
}
