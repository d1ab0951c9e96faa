package import Model
import NIOConcurrencyHelpers
import NIOPosix

/// Computes password hashes on threads of its own: each takes 32 MiB and a tenth of a second, which must not hold up other calls.
///
/// `close` ends the threads; the owner calls it once, after the last hash.
package final class PasswordWork: Sendable {
    /// Two at a time: 64 MiB, and one core of two at most while others serve.
    package static let threads = 2
    /// 16 wait. Above it a sign-in is refused with 429, so that a flood of them takes no memory.
    package static let queued = 16

    /// Too many sign-ins wait, or the node stops.
    package struct Busy: Error {}

    private struct State {
        var count = 0
        /// The threads begin with the first hash: a node whose console nobody opens has none.
        var isStarted = false
        var isClosed = false
    }

    private let pool = NIOThreadPool(numberOfThreads: PasswordWork.threads)
    private let state = NIOLockedValueBox(State())
    private let cost: PasswordCost
    private let identifiers: any IdentifierSource
    /// The hash of no password, compared where no account exists: both take the same time.
    private let nobody: PasswordHash

    /// - Throws: when the library refuses the costs.
    package init(cost: PasswordCost = .standard, identifiers: any IdentifierSource) throws {
        self.cost = cost
        self.identifiers = identifiers
        nobody = try PasswordHash(of: identifiers.randomHex(byteCount: 16), cost: cost, identifiers: identifiers)
    }

    /// Hashes a new password.
    ///
    /// - Throws: `Busy`, or the library's error.
    package func hash(_ password: String) async throws -> String {
        let (cost, identifiers) = (cost, identifiers)
        return try await run {
            try PasswordHash(of: password, cost: cost, identifiers: identifiers).description
        }
    }

    /// Whether a password is that of a stored hash. Nil: no account exists; the comparison takes as long, and fails.
    ///
    /// - Throws: `Busy`.
    package func matches(_ password: String, _ stored: String?) async throws -> Bool {
        let known = stored.flatMap { PasswordHash(stored: $0) }
        let hash = known ?? nobody
        let matches = try await run { hash.matches(password) }
        return matches && known != nil
    }

    private func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let isFree = state.withLockedValue { state in
            guard !state.isClosed, state.count < Self.threads + Self.queued else { return false }
            state.count += 1
            if !state.isStarted { pool.start() }
            state.isStarted = true
            return true
        }
        guard isFree else { throw Busy() }
        defer { state.withLockedValue { $0.count -= 1 } }
        return try await pool.runIfActive(work)
    }

    /// Ends the threads, after the hashes in progress.
    package func close() async {
        let isStarted = state.withLockedValue { state in
            defer { state.isClosed = true }
            return state.isStarted && !state.isClosed
        }
        if isStarted { try? await pool.shutdownGracefully() }
    }
}
