import Glibc
package import Logging
import NIOConcurrencyHelpers

/// What a listening session hears.
package enum ListenEvent: Sendable, Equatable {
    /// `NOTIFY channel, 'payload'`.
    case notification(channel: String, payload: String)

    /// Notifications may have been missed: the session is new (the first time too), or the listener too slow. Read the
    /// tables.
    case mayHaveMissed
}

/// A session of its own that listens on channels, and comes back after every loss.
///
/// Notifications are hints (design §5.9): whoever listens must be right without them. The session is opened by `events`
/// and ended by the end of its consumer or by `stop`.
package final class PostgresListener: Sendable {
    /// 1024 events wait for a slow consumer. More are dropped, and `mayHaveMissed` says so.
    package static let bufferCount = 1024

    /// How long silence lasts before the server is asked whether it is still there.
    static let keepAlive: Duration = .seconds(20)

    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let logger: Logger
    private let interrupt: NIOLockedValueBox<Interrupt?> = NIOLockedValueBox(nil)
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
        interrupt.withLockedValue { $0 }?.stop()
    }

    // MARK: On the thread

    private func listen(_ continuation: AsyncStream<ListenEvent>.Continuation) {
        var mailbox = Mailbox(continuation: continuation)
        var backoff = Backoff()
        var random = SystemRandomNumberGenerator()
        while !isStopped.withLockedValue({ $0 }) {
            do throws(PostgresError) {
                let interrupt = try Interrupt()
                self.interrupt.withLockedValue { $0 = interrupt }
                // `stop` may have come before it could see this interrupt.
                if isStopped.withLockedValue({ $0 }) { break }
                let session = try open(interrupt)
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

    private func open(_ interrupt: Interrupt) throws(PostgresError) -> Session {
        let patience = Patience(until: .now + configuration.connectTimeout, ticket: interrupt.nextTicket())
        let session = try Session(configuration, interrupt: interrupt, patience: patience, logger: logger)
        var sql = ""
        for channel in channels { sql += "LISTEN \(try SQLText.identifier(channel));" }
        try session.script(sql, Patience(until: .now + configuration.batchTimeout, ticket: interrupt.nextTicket()))
        return session
    }

    private func hear(_ session: Session, _ mailbox: inout Mailbox) throws(PostgresError) {
        while true {
            while let (channel, payload) = session.connection.nextNotification() {
                mailbox.deliver(.notification(channel: channel, payload: payload))
            }
            mailbox.repeatIfDropped()
            // Before each wait: a `stop` during the last call has used up its wake-up.
            if session.interrupt.isStopped { throw PostgresError(.closed) }
            let hasInput = Poller.wait(
                session.connection.socket,
                for: POLLIN,
                orFor: session.interrupt,
                milliseconds: Int32(clamping: Self.keepAlive.milliseconds)
            )
            if session.interrupt.isStopped { throw PostgresError(.closed) }
            if hasInput {
                try session.consume()
            } else if !session.interrupt.isStopped {
                let patience = Patience(until: .now + .seconds(5), ticket: session.interrupt.nextTicket())
                try session.script("SELECT 1", patience)
            }
        }
    }

    /// Waits out a pause, `stop` permitting.
    private func sleep(_ pause: Duration) {
        guard let interrupt = interrupt.withLockedValue({ $0 }), !interrupt.isStopped else { return }
        var descriptor = pollfd(fd: interrupt.descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&descriptor, 1, Int32(clamping: pause.milliseconds))
    }
}

/// The stream's buffer, and whether something did not fit.
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
