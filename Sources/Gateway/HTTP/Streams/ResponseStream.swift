package import Hummingbird
import NIOConcurrencyHelpers
package import NIOCore

/// A long answer that is written part by part. A peer that does not read loses its connection, so that it does not hold a stream and its memory.
package struct ResponseStream: Sendable {
    /// 30 s for the peer to receive a part.
    package static let writeTimeout = Duration.seconds(30)

    let writeTimeout: Duration
    /// Closes the connection, to end a blocked write.
    let disconnect: @Sendable () -> Void

    /// - Parameters:
    ///   - writeTimeout: the time for the peer to receive a part.
    ///   - disconnect: closes the connection.
    package init(writeTimeout: Duration, disconnect: @escaping @Sendable () -> Void) {
        self.writeTimeout = writeTimeout
        self.disconnect = disconnect
    }

    /// A stream over the connection of a call; nil in a test whose answer stays in memory.
    package init(to channel: (any Channel)?) {
        self.init(writeTimeout: Self.writeTimeout) { channel?.close(promise: nil) }
    }

    /// Writes parts and measures how long the peer takes.
    package struct Writer {
        fileprivate var writer: any ResponseBodyWriter
        fileprivate let writingSince: NIOLockedValueBox<ContinuousClock.Instant?>

        /// - Throws: when the peer is gone.
        package mutating func write(_ buffer: ByteBuffer) async throws {
            writingSince.withLockedValue { $0 = .now }
            defer { writingSince.withLockedValue { $0 = nil } }
            try await writer.write(buffer)
        }

        /// Writes buffers as one part: they are sent together, and none is copied.
        ///
        /// - Throws: when the peer is gone.
        package mutating func write(contentsOf buffers: [ByteBuffer]) async throws {
            writingSince.withLockedValue { $0 = .now }
            defer { writingSince.withLockedValue { $0 = nil } }
            try await writer.write(contentsOf: buffers)
        }
    }

    /// Runs `body`, which writes the parts, and ends the answer.
    ///
    /// - Throws: when the peer is gone, or what `body` throws. The answer then has no proper end, by which the peer knows that it is not whole.
    package func run(
        into writer: any ResponseBodyWriter,
        _ body: (inout Writer) async throws -> Void
    ) async throws {
        let writingSince = NIOLockedValueBox<ContinuousClock.Instant?>(nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await watch(writingSince) }
            defer { group.cancelAll() }
            var parts = Writer(writer: writer, writingSince: writingSince)
            try await body(&parts)
            try await parts.writer.finish(nil)
        }
    }

    /// Sleeps until the present part is late, or a part that begins now would be: a stream that waits for news wakes nothing up every second.
    private func watch(_ writingSince: NIOLockedValueBox<ContinuousClock.Instant?>) async {
        while !Task.isCancelled {
            let (now, since) = (ContinuousClock.now, writingSince.withLockedValue { $0 })
            if let since, now - since >= writeTimeout { return disconnect() }
            try? await Task.sleep(until: (since ?? now) + max(writeTimeout, .milliseconds(1)), clock: .continuous)
        }
    }
}
