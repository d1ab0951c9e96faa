import Glibc
package import Logging
import NIOConcurrencyHelpers

/// An event of a listening session.
package enum ListenEvent: Sendable, Equatable {
    /// `NOTIFY channel, 'payload'`.
    case notification(channel: String, payload: String)

    /// Notifications may have been missed, because the session is new (this includes the first one) or the consumer is too slow. The consumer must read
    /// the tables.
    case mayHaveMissed
}

/// A separate session that listens on channels and reconnects after every loss.
///
/// Notifications are hints: a consumer must work correctly without them. `events` opens the session. It ends when its consumer ends, or
/// by `stop`.
package final class PostgresListener: Sendable {
    /// 1024 events are buffered for a slow consumer. Further events are dropped and reported as `mayHaveMissed`.
    package static let bufferCount = 1024

    /// After this time of silence, a statement checks whether the server still answers.
    static let keepAlive: Duration = .seconds(20)

    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let logger: Logger
    private let cancellation: NIOLockedValueBox<CancellationSignal?> = NIOLockedValueBox(nil)
    private let isStopped = NIOLockedValueBox(false)

    package init(_ configuration: PostgresConfiguration, channels: [String], logger: Logger) {
        self.configuration = configuration
        self.channels = channels
        self.logger = logger
    }

    /// The events, for one consumer. Ends when the consumer's task is cancelled or `stop` is called.
    package func events() -> AsyncStream<ListenEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ListenEvent.self,
            bufferingPolicy: .bufferingOldest(Self.bufferCount)
        )
        continuation.onTermination = { [self] _ in stop() }
        if !NativeThread.start({ [self] in listen(continuation) }) { continuation.finish() }
        return stream
    }

    /// Ends the session and the stream.
    package func stop() {
        isStopped.withLockedValue { $0 = true }
        cancellation.withLockedValue { $0 }?.stop()
    }

    // MARK: On the thread

    private func listen(_ continuation: AsyncStream<ListenEvent>.Continuation) {
        var mailbox = Mailbox(continuation: continuation)
        var backoff = Backoff()
        var random = SystemRandomNumberGenerator()
        while !isStopped.withLockedValue({ $0 }) {
            do throws(PostgresError) {
                let cancellation = try CancellationSignal()
                self.cancellation.withLockedValue { $0 = cancellation }
                // `stop` may have been called before the cancellation signal was visible to it.
                if isStopped.withLockedValue({ $0 }) { break }
                let session = try open(cancellation)
                backoff.succeeded()
                mailbox.mayHaveMissed()
                try hear(session, &mailbox)
            } catch {
                logger.debug("The listening session ended", metadata: ["error": .string("\(error)")])
                sleep(backoff.failed(random: &random))
            }
        }
        continuation.finish()
    }

    private func open(_ cancellation: CancellationSignal) throws(PostgresError) -> PostgresSession {
        let deadline = Deadline(until: .now + configuration.connectTimeout, ticket: cancellation.nextTicket())
        let session = try PostgresSession(configuration, cancellation: cancellation, deadline: deadline, logger: logger)
        var sql = ""
        for channel in channels { sql += "LISTEN \(try SQLText.identifier(channel));" }
        try session.script(sql, Deadline(until: .now + configuration.batchTimeout, ticket: cancellation.nextTicket()))
        return session
    }

    private func hear(_ session: PostgresSession, _ mailbox: inout Mailbox) throws(PostgresError) {
        while true {
            while let (channel, payload) = session.connection.nextNotification() {
                mailbox.deliver(.notification(channel: channel, payload: payload))
            }
            mailbox.repeatIfDropped()
            // Checked before each wait: the last call has already consumed the wake-up of a `stop`.
            if session.cancellation.isStopped { throw PostgresError(.closed) }
            let hasInput = Poller.wait(
                session.connection.socket,
                for: POLLIN,
                orFor: session.cancellation,
                milliseconds: Int32(clamping: Self.keepAlive.milliseconds)
            )
            if session.cancellation.isStopped { throw PostgresError(.closed) }
            if hasInput {
                try session.consume()
            } else if !session.cancellation.isStopped {
                let deadline = Deadline(until: .now + .seconds(5), ticket: session.cancellation.nextTicket())
                try session.script("SELECT 1", deadline)
            }
        }
    }

    /// Waits until the pause ends or `stop` is called.
    private func sleep(_ pause: Duration) {
        guard let cancellation = cancellation.withLockedValue({ $0 }), !cancellation.isStopped else { return }
        var descriptor = pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&descriptor, 1, Int32(clamping: pause.milliseconds))
    }
}

/// The buffer of the stream, and whether an event was dropped.
private struct Mailbox {
    let continuation: AsyncStream<ListenEvent>.Continuation
    private var hasDropped = false

    init(continuation: AsyncStream<ListenEvent>.Continuation) { self.continuation = continuation }

    mutating func deliver(_ event: ListenEvent) {
        if hasDropped, !offer(.mayHaveMissed) { return }
        hasDropped = !offer(event)
    }

    mutating func repeatIfDropped() {
        if hasDropped { mayHaveMissed() }
    }

    mutating func mayHaveMissed() { hasDropped = !offer(.mayHaveMissed) }

    private func offer(_ event: ListenEvent) -> Bool {
        if case .dropped = continuation.yield(event) { return false }
        return true
    }
}
