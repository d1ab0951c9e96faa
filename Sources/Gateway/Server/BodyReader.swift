import HTTPTypes
import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore

/// Reads a request's body whole, bounded in bytes and in time.
enum BodyReader {
    /// 15 s from the first byte to the last: a caller that drips its body must not hold a connection and its memory.
    static let timeLimit = Duration.seconds(15)

    enum Failure: Error, Equatable {
        case tooLarge
        case tooSlow
        /// The connection broke.
        case broken
    }

    private static let watch = BodyWatch()

    /// - Throws: `Failure`. Above the limit it stops reading at once.
    static func read(_ request: Request, limitBytes: Int) async throws(Failure) -> [UInt8] {
        if let stated = request.headers[.contentLength].flatMap({ Int($0) }), stated > limitBytes { throw .tooLarge }
        let reading = Task { await collect(request.body, limitBytes) }
        let ticket = watch.begins(reading, until: .now + timeLimit)
        defer { watch.ended(ticket) }
        return try await withTaskCancellationHandler {
            await reading.value
        } onCancel: {
            reading.cancel()
        }.get()
    }

    private static func collect(_ body: RequestBody, _ limitBytes: Int) async -> Result<[UInt8], Failure> {
        do {
            let buffer = try await body.collect(upTo: limitBytes)
            // Cancelled, the sequence just ends: what is there then may be half a body.
            return Task.isCancelled ? .failure(.tooSlow) : .success(Array(buffer.readableBytesView))
        } catch is NIOTooManyBytesError {
            return .failure(.tooLarge)
        } catch is CancellationError {
            return .failure(.tooSlow)
        } catch {
            return .failure(Task.isCancelled ? .tooSlow : .broken)
        }
    }
}

/// Ends the readings that take too long: one look per second over all of them, instead of a timer for each.
private final class BodyWatch: Sendable {
    /// A reading may take so much longer than it should.
    private static let pause = Duration.seconds(1)

    private struct Entry {
        var reading: Task<Result<[UInt8], BodyReader.Failure>, Never>
        var deadline: ContinuousClock.Instant
    }

    private struct State {
        /// As many as there are calls under way, which the listeners bound.
        var entries: [UInt64: Entry] = [:]
        var next: UInt64 = 0
        var isLooking = false
    }

    private let state = NIOLockedValueBox(State())

    func begins(
        _ reading: Task<Result<[UInt8], BodyReader.Failure>, Never>,
        until deadline: ContinuousClock.Instant
    ) -> UInt64 {
        let (ticket, starts) = state.withLockedValue { state in
            state.next += 1
            state.entries[state.next] = Entry(reading: reading, deadline: deadline)
            defer { state.isLooking = true }
            return (state.next, !state.isLooking)
        }
        if starts { Task { await look() } }
        return ticket
    }

    func ended(_ ticket: UInt64) { state.withLockedValue { _ = $0.entries.removeValue(forKey: ticket) } }

    /// Until nobody reads.
    private func look() async {
        while true {
            try? await Task.sleep(for: Self.pause)
            let now = ContinuousClock.now
            let late = state.withLockedValue { state in
                if state.entries.isEmpty { state.isLooking = false }
                return state.isLooking ? state.entries.values.filter { $0.deadline <= now }.map(\.reading) : nil
            }
            guard let late else { return }
            for reading in late { reading.cancel() }
        }
    }
}
