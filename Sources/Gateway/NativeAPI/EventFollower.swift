import Hummingbird
import Model
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle

/// One stream of events that goes on as they happen, as lines of JSON.
///
/// It holds one page at a time and reads the next when the peer has taken it. It ends by itself, so that a proxy does not cut it in the middle of a
/// line and a node that shuts down waits for none; its last line says where to go on.
struct EventFollower: Sendable {
    /// 5 minutes: within what proxies commonly leave open.
    static let length = Duration.seconds(300)
    /// 15 s without an event make an empty line: the peer sees that it is alive, and we see whether the peer is.
    static let heartbeat = Duration.seconds(15)
    /// 250 ms between looks: one read of a row each, for at most `EventSeats.perNode` streams.
    static let interval = Duration.milliseconds(250)
    /// 500 events, about 150 KB: what one stream holds in memory.
    static let pageSize = 500
    /// 30 s for the peer to take a page. A peer that reads nothing must not keep a stream and its memory.
    static let patience = Duration.seconds(30)

    let length: Duration
    let patience: Duration
    /// Closes the connection under a write that never ends.
    let hangUp: @Sendable () -> Void
    let lines: EventLines.Spelling
    let read: @Sendable (Int64) async throws(StoreError) -> EventPage

    init(
        length: Duration = EventFollower.length,
        patience: Duration = EventFollower.patience,
        hangUp: @escaping @Sendable () -> Void,
        lines: @escaping EventLines.Spelling = { $0.map(\.json) },
        read: @escaping @Sendable (Int64) async throws(StoreError) -> EventPage
    ) {
        self.length = length
        self.patience = patience
        self.hangUp = hangUp
        self.lines = lines
        self.read = read
    }

    /// Writes until its time is over, the node shuts down, the store fails or the peer is gone.
    ///
    /// - Throws: when the peer is gone.
    func run(after start: Int64, into writer: inout any ResponseBodyWriter) async throws {
        let writingSince = NIOLockedValueBox<ContinuousClock.Instant?>(nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await watch(writingSince) }
            defer { group.cancelAll() }
            try await pour(after: start, into: &writer, writingSince)
            try await writer.finish(nil)
        }
    }

    private func watch(_ writingSince: NIOLockedValueBox<ContinuousClock.Instant?>) async {
        while !Task.isCancelled {
            if let since = writingSince.withLockedValue({ $0 }), ContinuousClock.now - since > patience {
                return hangUp()
            }
            try? await Task.sleep(for: min(patience, .seconds(1)))
        }
    }

    private func pour(
        after start: Int64,
        into writer: inout any ResponseBodyWriter,
        _ writingSince: NIOLockedValueBox<ContinuousClock.Instant?>
    ) async throws {
        func write(_ buffer: ByteBuffer) async throws {
            writingSince.withLockedValue { $0 = .now }
            defer { writingSince.withLockedValue { $0 = nil } }
            try await writer.write(buffer)
        }
        let end = ContinuousClock.now + length
        var page = EventPage(events: [], through: start, head: start)
        var lastLine = ContinuousClock.now
        while ContinuousClock.now < end, !Task.isShuttingDownGracefully, !Task.isCancelled {
            let told: [JSON]
            do {
                let next = try await read(page.through)
                told = try await lines(next.events)
                page = next
            } catch {
                // The status is sent already: the stream ends, and the peer takes it up again at its offset.
                break
            }
            if !told.isEmpty {
                try await write(EventLines.buffer(told))
                lastLine = .now
            } else if ContinuousClock.now - lastLine >= Self.heartbeat {
                try await write(ByteBuffer(bytes: [0x0A]))
                lastLine = .now
            }
            if page.head <= page.through { try await Task.sleep(for: Self.interval) }
        }
        try await write(
            EventLines.buffer([
                ["kind": "stream_ended", "offset": .int(page.through), "head": .int(page.head)] as JSON
            ])
        )
    }
}

/// Who follows. Bounded, because each stream asks the store four times a second.
final class EventSeats: Sendable {
    /// 64 streams on one node, 8 of one tenant: one tenant's readers must not keep the others out.
    static let perNode = 64
    static let perTenant = 8

    /// One stream's place. Given back when it leaves, and also when nobody ever ran the stream.
    final class Seat: Sendable {
        private let giveBack: NIOLockedValueBox<(@Sendable () -> Void)?>

        init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = NIOLockedValueBox(giveBack) }

        func leave() {
            let giveBack = giveBack.withLockedValue { box in
                defer { box = nil }
                return box
            }
            giveBack?()
        }

        deinit { leave() }
    }

    private let taken = NIOLockedValueBox<[TenantID: Int]>([:])

    /// Nil when all are taken.
    func take(_ tenant: TenantID) -> Seat? {
        let isFree = taken.withLockedValue { taken in
            guard taken[tenant, default: 0] < Self.perTenant, taken.values.reduce(0, +) < Self.perNode else {
                return false
            }
            taken[tenant, default: 0] += 1
            return true
        }
        guard isFree else { return nil }
        return Seat { [taken] in
            taken.withLockedValue { taken in
                let left = taken[tenant, default: 1] - 1
                taken[tenant] = left > 0 ? left : nil
            }
        }
    }
}
