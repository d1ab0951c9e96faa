internal import HTTP2

/// The key of a pool: requests with the same key may share a connection. APNs ties a connection to the team, the kind of key and the environment of its first
/// push (docs/contracts/apns.md#3), so a pool serves
/// one key of one team, or one certificate, at one host and port, and nothing else ever.
struct PoolKey: Hashable, Sendable {
    /// Who speaks on its connections.
    enum Speaker: Hashable, Sendable {
        /// A team's key, with its public half: a mended key file under the same id is another speaker.
        case key(ProviderTokenSigner.ID)
        /// A certificate, by its fingerprint.
        case certificate([UInt8])
    }

    let endpoint: APNsEndpoint
    let speaker: Speaker
    let trustRootsPEM: [UInt8]?
}

/// What a pool, or something it asked for, has to wait for.
enum PoolWork: Sendable {
    /// Ask the cache for a provider token, and tell the pool.
    case obtainToken(ConnectionPool, ProviderTokenSigner, replacing: ProviderToken?)
    /// Wake the pool at a time.
    case wake(ConnectionPool, at: ContinuousClock.Instant)
    /// Forget the tokens of a signer that nobody uses any more.
    case forget(ProviderTokenSigner.ID)
}

/// Tells a pool which of its connections reports. Held by the connection; holds the pool until the connection has ended.
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
