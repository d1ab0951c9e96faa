import Model
import NIOConcurrencyHelpers

/// Counts the calls in flight of each credential.
final class CallGate: Sendable {
    private let limit: Int
    private let counts = NIOLockedValueBox<[CredentialKey: Int]>([:])

    init(limit: Int) { self.limit = limit }

    func count(of key: CredentialKey) -> Int { counts.withLockedValue { $0[key] ?? 0 } }

    /// Begins a call; false if as many as permitted are in flight. Each one that began must end.
    func begin(_ key: CredentialKey) -> Bool {
        counts.withLockedValue { counts in
            let count = counts[key] ?? 0
            guard count < limit else { return false }
            counts[key] = count + 1
            return true
        }
    }

    func end(_ key: CredentialKey) {
        counts.withLockedValue { counts in
            let count = (counts[key] ?? 0) - 1
            counts[key] = count > 0 ? count : nil
        }
    }
}
