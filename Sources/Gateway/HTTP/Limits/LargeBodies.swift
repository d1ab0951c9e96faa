import Foundation
package import Model
import NIOConcurrencyHelpers
import NIOPosix

/// Limits the memory of bodies on this node: how many bytes of large ones are held at once, how many values of bodies with many, and that large ones are
/// parsed one after the other, on a thread of their own, so that they do not delay small calls.
///
/// A call that holds room for bytes may wait for room for values, and never the other way round.
package final class LargeBodies: Sendable {
    /// 64 KiB: smaller bodies need no room for their bytes, which is nearly every call.
    package static let smallBytes = 64 << 10

    private let limiter: CallLimiter
    private let bytes: BodyRoom
    private let values: BodyRoom

    /// - Parameters:
    ///   - limiter: has the limits, the metric and the log.
    ///   - values: how many values of bodies the node holds.
    package init(limiter: CallLimiter, values: Int = BodyValues.capacity) {
        self.limiter = limiter
        let waitSeconds = limiter.settings.bodyWaitSeconds
        bytes = BodyRoom(capacity: limiter.settings.bodyBytes, waitSeconds: waitSeconds)
        self.values = BodyRoom(capacity: values, waitSeconds: waitSeconds)
    }

    /// Waits for room for a large body.
    ///
    /// - Throws: `LimitExcess` when there is none in time.
    package func room(bytes count: Int, address: String?) async throws(LimitExcess) -> HeldPermit {
        // Without a limit there is always room.
        guard limiter.settings.bodyBytes > 0 else { return HeldPermit {} }
        if let permit = await bytes.permit(count, address: address) { return permit }
        throw LimitExcess(.bodies, wait: Double(limiter.settings.bodyWaitSeconds))
    }

    /// Waits for room for the values of a call that is read next. These stay in memory until its answer, because all steps of the call share them.
    ///
    /// - Returns: nil for a call with few values, which is nearly every one.
    /// - Throws: `LimitExcess` when there is none in time.
    package func room(
        valuesOf body: [UInt8],
        query: String? = nil,
        address: String?
    ) async throws(LimitExcess) -> HeldPermit? {
        guard BodyValues.mayBeMany(body, query: query) else { return nil }
        let count = await Self.parse(body) { BodyValues.count(body, query: query) }
        guard count > BodyValues.freeCount else { return nil }
        if let permit = await values.permit(count, address: address) { return permit }
        throw LimitExcess(.values, wait: Double(limiter.settings.bodyWaitSeconds))
    }

    /// Whether a body waits for room for its bytes that others hold.
    package var isRoomWanted: Bool { bytes.isWanted }

    // MARK: Parsing

    /// 10: where every core is busy, the thread for large bodies gets a tenth of the time of another one, and makes room at once for a thread that has waited for
    /// something. A core that nobody needs is its own.
    static let niceness: Int32 = 10

    /// One thread: large bodies are parsed one after the other.
    private static let parser: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        // The first work of the only thread. Linux changes the calling thread, not the process. If it does not permit this, large bodies have the usual priority.
        pool.submit { _ in _ = nice(LargeBodies.niceness) }
        return pool
    }()

    /// Runs `reading`, which reads `body`: of a large one on the thread for large bodies.
    package static func parse<Value: Sendable, Failure: Error>(
        _ body: [UInt8],
        _ reading: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard body.count > smallBytes else { return try reading() }
        return try await parse(reading)
    }

    /// Runs `body` on the thread for large bodies.
    package static func parse<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = try? await parser.runIfActive { Result(catching: body) }
        // The thread never ends, so that there is a result.
        return try (result ?? Result(catching: body)).get()
    }

    /// Frees a large body, and what was read of it, on the thread for large bodies, and then its room: to free a hundred thousand values takes as long as to read
    /// them, and all connections of an event loop would wait for it.
    ///
    /// - Parameters:
    ///   - call: keeps everything but a large body.
    ///   - room: of the body.
    package static func free(bodyOf call: inout VendorRequest, _ room: [HeldPermit?]) {
        guard call.body.count > smallBytes else { return }
        let held = NIOLockedValueBox<VendorRequest?>(call)
        call.body = []
        parser.submit { _ in
            withExtendedLifetime(room) { held.withLockedValue { $0 = nil } }
        }
    }

    /// Runs the steps of a call with `body`. Those of a large body run on the threads of the process: it may contain so many commands that the calls of other
    /// connections would wait for them on the event loop.
    package static func steps<Value: Sendable>(
        of body: [UInt8],
        _ steps: () async -> Value
    ) async -> Value {
        guard body.count > smallBytes else { return await steps() }
        return await withTaskExecutorPreference(globalConcurrentExecutor) { await steps() }
    }
}
