internal import HTTP2

/// The key of a pool: requests with the same key may share a connection.
///
/// APNs ties a connection to the team, the kind of key and the environment of its first push (docs/contracts/apns.md#3). A pool therefore serves only one key
/// of one team, or one certificate, at one host and port.
struct PoolKey: Hashable, Sendable {
    /// The authentication of its connections.
    enum Speaker: Hashable, Sendable {
        /// A team's key, with its public half: a corrected key file under the same id needs its own connections.
        case key(ProviderTokenSigner.ID)
        /// A certificate, by its fingerprint.
        case certificate([UInt8])
    }

    let endpoint: APNsEndpoint
    let speaker: Speaker
    let trustRootsPEM: [UInt8]?
}

/// Work of a pool that involves waiting.
enum PoolWork: Sendable {
    /// Fetch a provider token from the cache, and pass it to the pool.
    case obtainToken(ConnectionPool, ProviderTokenSigner, replacing: ProviderToken?)
    /// Wake the pool at this time.
    case wake(ConnectionPool, at: ContinuousClock.Instant)
    /// Discard the tokens of a signer that is unused.
    case forget(ProviderTokenSigner.ID)
}

/// Identifies the reporting connection to its pool. The connection retains it; it retains the pool until the connection has closed.
final class PoolObserver: ConnectionObserver {
    private let pool: ConnectionPool
    private let id: ConnectionID

    init(pool: ConnectionPool, id: ConnectionID) {
        self.pool = pool
        self.id = id
    }

    func connection(_ connection: Connection, reported report: borrowing ConnectionReport) {
        pool.reported(id, report, connection.load)
    }
}
