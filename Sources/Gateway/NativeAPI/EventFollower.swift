import Hummingbird
import Model
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle

/// A stream of events as lines of JSON, which continues as events happen.
///
/// The stream holds one page at a time and reads the next when the peer has received it. It ends after a fixed time, so that a proxy does not cut it in the
/// middle of a line and a node that shuts down does not wait for it. Its last line contains the offset for resuming.
struct EventFollower: Sendable {
    /// 5 minutes: shorter than the time limit of common proxies.
    static let length = Duration.seconds(300)
    /// 15 s without an event cause an empty line: the peer detects that the stream is alive, and the gateway detects a lost peer.
    static let heartbeat = Duration.seconds(15)
    /// 250 ms between polls: each reads one row, for at most `EventStreamLimit.perNode` streams.
    static let interval = Duration.milliseconds(250)
    /// 500 events, about 150 KB: the memory that one stream needs.
    static let pageSize = 500
    /// 30 s for the peer to receive a page. A peer that reads nothing must not hold a stream and its memory.
    static let writeTimeout = Duration.seconds(30)

    let length: Duration
    let writeTimeout: Duration
    /// Closes the connection, to end a blocked write.
    let disconnect: @Sendable () -> Void
    let lines: EventLines.Spelling
    /// The generation of the log. The stream ends when another begins, because its offsets are then invalid.
    let generation: String
    let read: @Sendable (Int64) async throws(StoreError) -> EventPage

    init(
        length: Duration = EventFollower.length,
        writeTimeout: Duration = EventFollower.writeTimeout,
        disconnect: @escaping @Sendable () -> Void,
        lines: @escaping EventLines.Spelling = { $0.map(\.json) },
        generation: String,
        read: @escaping @Sendable (Int64) async throws(StoreError) -> EventPage
    ) {
        self.length = length
        self.writeTimeout = writeTimeout
        self.disconnect = disconnect
        self.lines = lines
        self.generation = generation
        self.read = read
    }

    /// Writes events until the time limit, the shutdown of the node, an error of the store or the loss of the peer.
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
        var page = EventPage(events: [], through: start, head: start, generation: generation)
        var lastLine = ContinuousClock.now
        while ContinuousClock.now < end, !Task.isShuttingDownGracefully, !Task.isCancelled {
            let events: [JSON]
            do {
                let next = try await read(page.through)
                guard next.generation == generation else { break }
                events = try await lines(next.events)
                page = next
            } catch {
                // The status is already sent. The stream ends, and the peer resumes at its offset.
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
                [
                    "kind": "stream_ended", "offset": .int(page.through), "head": .int(page.head),
                    "generation": .string(generation),
                ] as JSON
            ])
        )
    }
}
