import HTTPTypes
package import HummingbirdCore
import NIOConcurrencyHelpers
package import NIOCore

/// Reads a request's body whole, bounded in bytes and in time.
package enum BodyReader {
    /// 15 s from the first byte to the last: a caller that drips its body must not hold a connection and its memory.
    package static let timeLimit = Duration.seconds(15)

    package enum Failure: Error, Equatable {
        case tooLarge
        case tooSlow
        /// The connection broke.
        case broken
    }

    private static let watch = BodyWatch()

    /// The body, from the call's connection; nil: a test's, whose body is here already.
    ///
    /// - Throws: `Failure`. Above the limit it stops reading at once.
    package static func read(
        _ request: Request,
        on channel: (any Channel)?,
        limitBytes: Int
    ) async throws(Failure) -> [UInt8] {
        if let stated = request.headers[.contentLength].flatMap({ Int($0) }), stated > limitBytes { throw .tooLarge }
        let ticket = channel.map { watch.begins($0, until: .now + timeLimit) }
        defer { if let ticket { watch.ended(ticket) } }
        do {
            let buffer = try await request.body.collect(upTo: limitBytes)
            // Cancelled, the sequence just ends: what is there then may be half a body.
            if Task.isCancelled { throw Failure.broken }
            return Array(buffer.readableBytesView)
        } catch {
            throw failure(error)
        }
    }

    private static func failure(_ error: any Error) -> Failure {
        switch error {
        case let failure as Failure: failure
        case is NIOTooManyBytesError: .tooLarge
        default: .broken
        }
    }
}

/// Ends the readings that take too long: one look per second over all of them, instead of a timer or a task for each.
///
/// Into the connection of a late one goes an error, which ends what comes in there: the reader gets it and can still answer, then the connection is closed,
/// however much its peer still has to say.
private final class BodyWatch: Sendable {
    /// A reading may take so much longer than it should.
    private static let pause = TimeAmount.seconds(1)
    /// 3 s for the answer to leave.
    private static let answerTime = TimeAmount.seconds(3)

    private struct Entry {
        var channel: any Channel
        var deadline: ContinuousClock.Instant
    }

    private struct State {
        /// As many as there are calls under way, which the listeners bound.
        var entries: [UInt64: Entry] = [:]
        var next: UInt64 = 0
        var isScheduled = false
    }

    private let state = NIOLockedValueBox(State())

    func begins(_ channel: any Channel, until deadline: ContinuousClock.Instant) -> UInt64 {
        let (ticket, starts) = state.withLockedValue { state in
            state.next += 1
            state.entries[state.next] = Entry(channel: channel, deadline: deadline)
            defer { state.isScheduled = true }
            return (state.next, !state.isScheduled)
        }
        if starts { schedule(on: channel.eventLoop) }
        return ticket
    }

    func ended(_ ticket: UInt64) { state.withLockedValue { _ = $0.entries.removeValue(forKey: ticket) } }

    /// Checks again after a pause, on the event loop of the connection whose reading began first. The loop owns the check.
    private func schedule(on loop: any EventLoop) {
        loop.scheduleTask(in: Self.pause) { self.endLate(on: loop) }
    }

    /// Repeats until no reading is left.
    private func endLate(on loop: any EventLoop) {
        let now = ContinuousClock.now
        let late = state.withLockedValue { state in
            if state.entries.isEmpty { state.isScheduled = false }
            return state.isScheduled ? state.entries.values.filter { $0.deadline <= now }.map(\.channel) : nil
        }
        guard let late else { return }
        for channel in late {
            channel.pipeline.fireErrorCaught(BodyReader.Failure.tooSlow)
            channel.eventLoop.scheduleTask(in: Self.answerTime) { channel.close(promise: nil) }
        }
        schedule(on: loop)
    }
}
