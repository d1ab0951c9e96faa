package import Hummingbird
package import Model
import NIOCore
import ServiceLifecycle

/// A stream of events as lines of JSON, which continues as events happen.
///
/// The stream holds one page at a time and reads the next when the peer has received it. It ends after a fixed time, so that a proxy does not cut it in the
/// middle of a line and a node that shuts down does not wait for it. Its last line contains the offset for resuming.
package struct EventFollower: Sendable {
    /// 5 minutes: shorter than the time limit of common proxies.
    package static let length = Duration.seconds(300)
    /// 15 s without an event cause an empty line: the peer detects that the stream is alive, and the gateway detects a lost peer.
    static let heartbeat = Duration.seconds(15)
    /// 250 ms between polls: each reads one row, for at most `EventStreamLimit.perNode` streams.
    static let interval = Duration.milliseconds(250)
    /// 500 events, about 150 KB: the memory that one stream needs.
    package static let pageSize = 500

    let length: Duration
    let stream: ResponseStream
    let lines: EventLines.Spelling
    /// The generation of the log. The stream ends when another begins, because its offsets are then invalid.
    let generation: String
    let read: @Sendable (Int64) async throws(StoreError) -> EventPage

    package init(
        length: Duration = EventFollower.length,
        stream: ResponseStream,
        lines: @escaping EventLines.Spelling = { $0.map(\.json) },
        generation: String,
        read: @escaping @Sendable (Int64) async throws(StoreError) -> EventPage
    ) {
        self.length = length
        self.stream = stream
        self.lines = lines
        self.generation = generation
        self.read = read
    }

    /// Writes events until the time limit, the shutdown of the node, an error of the store or the loss of the peer.
    ///
    /// - Throws: when the peer is gone.
    package func run(after start: Int64, into writer: any ResponseBodyWriter) async throws {
        try await stream.run(into: writer) { writer in try await writeEvents(after: start, into: &writer) }
    }

    private func writeEvents(after start: Int64, into writer: inout ResponseStream.Writer) async throws {
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
                try await writer.write(EventLines.buffer(events))
                lastLine = .now
            } else if ContinuousClock.now - lastLine >= Self.heartbeat {
                try await writer.write(ByteBuffer(bytes: [0x0A]))
                lastLine = .now
            }
            if page.head <= page.through { try await Task.sleep(for: Self.interval) }
        }
        try await writer.write(
            EventLines.buffer([
                [
                    "kind": "stream_ended", "offset": .int(page.through), "head": .int(page.head),
                    "generation": .string(generation),
                ] as JSON
            ])
        )
    }
}
