import HTTPTypes
package import HummingbirdCore
import NIOConcurrencyHelpers
package import NIOCore

/// Reads the whole body of a request within limits of size and time.
package enum BodyReader {
    /// 15 s from the first byte to the last: a caller that sends its body slowly must not hold a connection and its memory.
    package static let timeLimit = Duration.seconds(15)
    /// 7 s for the rest of a large body while others wait for its room: a caller that holds the room without need must not outlast the 10 s that they wait by
    /// default (`limits.bodies.wait`).
    package static let wantedTimeLimit = Duration.seconds(7)

    package enum Failure: Error, Equatable {
        case tooLarge
        case tooSlow
        /// The connection broke.
        case broken
        /// The node holds too many large bodies, too many that arrive slowly, or too many values.
        case noRoom(LimitExcess)
        /// The call is refused whatever the rest of its body is.
        case unwanted
    }

    private static let watch = BodyWatch()

    /// Reads the body from the connection of the call.
    ///
    /// - Parameters:
    ///   - request: the call.
    ///   - channel: the connection; nil in a test whose body is already in memory.
    ///   - address: the client's; nil if its calls are not limited.
    ///   - arriving: limits the bodies that arrive in several parts.
    ///   - limitBytes: the limit; reading stops at once above it.
    ///   - bodies: those that share the room. While others wait for it, the rest of a large body has `wantedTimeLimit`. Nil: `timeLimit` always.
    ///   - makeRoom: waits for room for that many bytes. Called once, when more than `LargeBodies.smallBytes` arrive, with as many of them, before the rest is
    ///     read. The time limit begins again afterwards.
    /// - Returns: the whole body.
    /// - Throws: `Failure`.
    package static func read(
        _ request: Request,
        on channel: (any Channel)?,
        from address: String?,
        arriving: ArrivingBodies = .ofNode,
        limitBytes: Int,
        sharing bodies: LargeBodies? = nil,
        makeRoom: (_ bytes: Int, _ beginning: [UInt8]) async throws(Failure) -> Void
    ) async throws(Failure) -> [UInt8] {
        let stated = request.headers[values: .contentLength].first.flatMap { Int($0) }
        if let stated, stated > limitBytes { throw .tooLarge }
        var ticket = channel.map { watch.begins($0, until: .now + timeLimit) }
        var part = ArrivingBodies.Part()
        defer {
            if let ticket { watch.ended(ticket) }
            arriving.end(&part)
        }
        do {
            var bytes: [UInt8] = []
            var isLarge = false
            for try await buffer in request.body {
                let count = bytes.count + buffer.readableBytes
                guard count <= limitBytes else { throw Failure.tooLarge }
                if !isLarge, count > LargeBodies.smallBytes {
                    isLarge = true
                    if let ticket { watch.ended(ticket) }
                    ticket = nil
                    arriving.end(&part)
                    let rest = buffer.readableBytesView.prefix(LargeBodies.smallBytes - bytes.count)
                    try await makeRoom(stated ?? limitBytes, bytes + rest)
                    ticket = channel.map { watch.begins($0, until: .now + timeLimit, sharing: bodies) }
                    bytes.reserveCapacity(stated ?? count)
                } else if !isLarge, count != stated {
                    // More will come.
                    let most = min(stated ?? limitBytes, LargeBodies.smallBytes)
                    guard arriving.grow(&part, count: count, most: most, address: address) else {
                        throw Failure.noRoom(LimitExcess(.bodies, wait: Double(timeLimit.components.seconds)))
                    }
                }
                bytes.append(contentsOf: buffer.readableBytesView)
            }
            // A canceled sequence ends without an error, so that the body may be incomplete.
            if Task.isCancelled { throw Failure.broken }
            return bytes
        } catch {
            throw failure(error)
        }
    }

    private static func failure(_ error: any Error) -> Failure {
        switch error {
        case let failure as Failure: failure
        default: .broken
        }
    }
}

/// Ends reads that take too long. One check per second covers all reads, instead of a timer or a task for each.
///
/// The check fires an error into the pipeline of a late connection, which ends its input. The reader receives the error and can still answer. Then the
/// connection is closed, even if the peer continues to send.
private final class BodyWatch: Sendable {
    /// The interval between two checks, and therefore the maximum excess over the limit.
    private static let pause = TimeAmount.seconds(1)
    /// 3 s for sending the answer.
    private static let answerTime = TimeAmount.seconds(3)

    private struct Entry {
        var channel: any Channel
        var deadline: ContinuousClock.Instant
        /// Set for a large body.
        var bodies: LargeBodies?

        func isLate(at now: ContinuousClock.Instant) -> Bool {
            if deadline <= now { return true }
            let wantedDeadline = deadline - BodyReader.timeLimit + BodyReader.wantedTimeLimit
            return wantedDeadline <= now && bodies?.isRoomWanted == true
        }
    }

    private struct State {
        /// One place per call in progress, a number that the listeners bound; nil: free.
        var entries: [Entry?] = []
        var free: [Int] = []
        var isScheduled = false
    }

    private let state = NIOLockedValueBox(State())

    /// Returns a ticket for `ended`, which must be called once.
    func begins(
        _ channel: any Channel,
        until deadline: ContinuousClock.Instant,
        sharing bodies: LargeBodies? = nil
    ) -> Int {
        let entry = Entry(channel: channel, deadline: deadline, bodies: bodies)
        let (ticket, starts) = state.withLockedValue { state -> (Int, Bool) in
            let ticket = state.free.popLast() ?? state.entries.count
            if ticket == state.entries.count { state.entries.append(entry) } else { state.entries[ticket] = entry }
            defer { state.isScheduled = true }
            return (ticket, !state.isScheduled)
        }
        if starts { schedule(on: channel.eventLoop) }
        return ticket
    }

    func ended(_ ticket: Int) {
        state.withLockedValue { state in
            state.entries[ticket] = nil
            state.free.append(ticket)
        }
    }

    /// Schedules the next check on the event loop of the connection whose read began first. The loop owns the check.
    private func schedule(on loop: any EventLoop) {
        loop.scheduleTask(in: Self.pause) { self.endLate(on: loop) }
    }

    /// Ends late reads, and schedules the next check while any read remains.
    private func endLate(on loop: any EventLoop) {
        let now = ContinuousClock.now
        let late = state.withLockedValue { state -> [any Channel]? in
            if state.free.count == state.entries.count { state.isScheduled = false }
            guard state.isScheduled else { return nil }
            return state.entries.compactMap { entry in entry.flatMap { $0.isLate(at: now) ? $0.channel : nil } }
        }
        guard let late else { return }
        for channel in late {
            channel.pipeline.fireErrorCaught(BodyReader.Failure.tooSlow)
            channel.eventLoop.scheduleTask(in: Self.answerTime) { channel.close(promise: nil) }
        }
        schedule(on: loop)
    }
}
