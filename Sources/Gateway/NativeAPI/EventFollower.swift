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
    /// 250 ms between looks: one read of a row each, for at most `EventStreamLimit.perNode` streams.
    static let interval = Duration.milliseconds(250)
    /// 500 events, about 150 KB: what one stream holds in memory.
    static let pageSize = 500
    /// 30 s for the peer to take a page. A peer that reads nothing must not keep a stream and its memory.
    static let writeTimeout = Duration.seconds(30)

    let length: Duration
    let writeTimeout: Duration
    /// Closes the connection under a write that never ends.
    let disconnect: @Sendable () -> Void
    let lines: EventLines.Spelling
    let read: @Sendable (Int64) async throws(StoreError) -> EventPage

    init(
        length: Duration = EventFollower.length,
        writeTimeout: Duration = EventFollower.writeTimeout,
        disconnect: @escaping @Sendable () -> Void,
        lines: @escaping EventLines.Spelling = { $0.map(\.json) },
        read: @escaping @Sendable (Int64) async throws(StoreError) -> EventPage
    ) {
        self.length = length
        self.writeTimeout = writeTimeout
        self.disconnect = disconnect
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
            try await writeEvents(after: start, into: &writer, writingSince)
            try await writer.finish(nil)
        }
    }

    private func watch(_ writingSince: NIOLockedValueBox<ContinuousClock.Instant?>) async {
        while !Task.isCancelled {
            if let since = writingSince.withLockedValue({ $0 }), ContinuousClock.now - since > writeTimeout {
                return disconnect()
            }
            try? await Task.sleep(for: min(writeTimeout, .seconds(1)))
        }
    }

    private func writeEvents(
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
            let events: [JSON]
            do {
                let next = try await read(page.through)
                events = try await lines(next.events)
                page = next
            } catch {
                // The status is sent already: the stream ends, and the peer takes it up again at its offset.
                break
            }
            if !events.isEmpty {
                try await write(EventLines.buffer(events))
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
