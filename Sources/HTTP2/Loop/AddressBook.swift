internal import NIOConcurrencyHelpers

/// Records which addresses are in use and which failed recently, so that a dial tries the best one first.
///
/// There is one per process, because the state of an address concerns all pools. Callers: any thread.
final class AddressBook: Sendable {
    static let shared = AddressBook()

    /// One minute: an address that failed is tried last for this long. With a longer time, a service that has recovered would get no load.
    static let failureMemory = Duration.seconds(60)
    /// 1,024 failed addresses are remembered; beyond that the oldest is forgotten. The limit exists because names may resolve to any number of addresses.
    static let maxFailures = 1_024

    private struct State: Sendable {
        var useCounts: [SocketAddress: Int] = [:]
        var failedAt: [SocketAddress: ContinuousClock.Instant] = [:]
    }

    private let state = NIOLockedValueBox(State())

    /// Sorts the addresses into the order to try. Those that did not fail recently come first, among them the least used (docs/contracts/apns.md#11.4),
    /// otherwise in the resolver's order. Then the two families alternate (RFC 8305 §4), so that an unreachable family costs one attempt.
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

    /// Records that a connection uses this address.
    func connected(_ address: SocketAddress) {
        state.withLockedValue { state in
            state.useCounts[address, default: 0] += 1
            state.failedAt[address] = nil
        }
    }

    /// Records that a connection over this address has closed.
    func released(_ address: SocketAddress) {
        state.withLockedValue { state in
            let count = (state.useCounts[address] ?? 0) - 1
            state.useCounts[address] = count > 0 ? count : nil
        }
    }

    /// Records that TCP or TLS failed at this address.
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
