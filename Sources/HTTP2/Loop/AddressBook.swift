internal import NIOConcurrencyHelpers

/// Which addresses are in use and which failed lately, so that a dial tries the best one first.
///
/// One per process, because what makes an address bad or busy is not one pool's matter. Any thread.
final class AddressBook: Sendable {
    static let shared = AddressBook()

    /// A minute: an address that failed is tried last for so long. Longer, and a service that came back gets no load.
    static let failureMemory = Duration.seconds(60)
    /// 1,024 failed addresses are remembered; beyond that the oldest is forgotten. Names may resolve to anything.
    static let maxFailures = 1_024

    private struct State: Sendable {
        var useCounts: [SocketAddress: Int] = [:]
        var failedAt: [SocketAddress: ContinuousClock.Instant] = [:]
    }

    private let state = NIOLockedValueBox(State())

    /// The addresses in the order to try them: those that did not fail lately, among them those that are used least (docs/contracts/apns.md#11.4),
    /// else as the resolver gave them; then the two families in turns (RFC 8305 §4), so that one that is cut off costs one attempt.
    func ordered(_ addresses: [SocketAddress], now: ContinuousClock.Instant) -> [SocketAddress] {
        let ranked = state.withLockedValue { state in
            addresses.enumerated().map { index, address in
                let age = state.failedAt[address].map { $0.duration(to: now) } ?? Self.failureMemory
                return (age < Self.failureMemory ? 1 : 0, state.useCounts[address] ?? 0, index, address)
            }
        }
        let sorted = ranked.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3)
        return Self.interleaved(sorted)
    }

    /// A connection over this address is being used.
    func connected(_ address: SocketAddress) {
        state.withLockedValue { state in
            state.useCounts[address, default: 0] += 1
            state.failedAt[address] = nil
        }
    }

    /// That connection is gone.
    func released(_ address: SocketAddress) {
        state.withLockedValue { state in
            let count = (state.useCounts[address] ?? 0) - 1
            state.useCounts[address] = count > 0 ? count : nil
        }
    }

    /// TCP or TLS failed there.
    func failed(_ address: SocketAddress, now: ContinuousClock.Instant) {
        state.withLockedValue { state in
            if state.failedAt[address] == nil, state.failedAt.count >= Self.maxFailures {
                let oldest = state.failedAt.min { $0.value < $1.value }
                if let oldest { state.failedAt[oldest.key] = nil }
            }
            state.failedAt[address] = now
        }
    }

    private static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let family = addresses.first?.family else { return [] }
        let first = addresses.filter { $0.family == family }
        let second = addresses.filter { $0.family != family }
        let shared = min(first.count, second.count)
        let pairs = zip(first, second).flatMap { [$0, $1] }
        return pairs + first.dropFirst(shared) + second.dropFirst(shared)
    }
}
