internal import NIOConcurrencyHelpers

/// TLS sessions that later connections resume: bytes, by whom they were made with.
///
/// Part of a `TLSContext`, and so of one identity; any thread. Each session is handed out once: RFC 8446 §C.4 asks for that, and a
/// session that the peer does not like is then tried no second time.
final class TLSSessionCache: Sendable {
    /// Whom a session was made with. The name belongs to it, because a resumed handshake verifies no certificate again.
    struct Key: Hashable, Sendable {
        let host: String
        let port: Int
        let serverName: String
    }

    /// An hour. The certificate is not looked at again, so a session may not outlive what it once said by much.
    static let maxAge = Duration.seconds(3_600)
    /// 64 peers per context. A context serves one credential, which has two hosts or so.
    static let maxPeers = 64
    /// 16 sessions per peer: the connections of a pool that may reconnect at once. A peer gives two at a time and could give more.
    static let maxSessionsPerPeer = 16
    /// 16 KiB per session: a peer's certificate and ticket, with room to spare.
    static let maxSessionBytes = 16_384

    private struct Entry: Sendable {
        let bytes: [UInt8]
        let storedAt: ContinuousClock.Instant
    }

    private let entries = NIOLockedValueBox<[Key: [Entry]]>([:])

    /// Keeps a session; beyond a bound the oldest goes.
    func store(_ bytes: [UInt8], for key: Key, now: ContinuousClock.Instant = .now) {
        guard !bytes.isEmpty, bytes.count <= Self.maxSessionBytes else { return }
        entries.withLockedValue { entries in
            if entries[key] == nil, entries.count >= Self.maxPeers {
                let stalest = entries.min { Self.newest($0.value, now) < Self.newest($1.value, now) }
                if let stalest { entries[stalest.key] = nil }
            }
            var list = entries[key] ?? []
            if list.count >= Self.maxSessionsPerPeer { list.removeFirst() }
            list.append(Entry(bytes: bytes, storedAt: now))
            entries[key] = list
        }
    }

    /// Gives the newest session and forgets it; nil if there is none that is young enough.
    func take(_ key: Key, now: ContinuousClock.Instant = .now) -> [UInt8]? {
        entries.withLockedValue { entries in
            guard let entry = entries[key]?.popLast() else { return nil }
            // The others are older still.
            let isYoung = entry.storedAt.duration(to: now) < Self.maxAge
            if !isYoung || entries[key]?.isEmpty == true { entries[key] = nil }
            return isYoung ? entry.bytes : nil
        }
    }

    /// Forgets the sessions of one peer: a handshake that offered one has failed.
    func removeAll(_ key: Key) { entries.withLockedValue { $0[key] = nil } }

    /// How many sessions it holds.
    var count: Int { entries.withLockedValue { $0.values.reduce(0) { $0 + $1.count } } }

    private static func newest(_ list: [Entry], _ now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        list.last?.storedAt ?? now
    }
}
