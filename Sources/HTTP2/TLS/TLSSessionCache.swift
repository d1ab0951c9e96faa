internal import NIOConcurrencyHelpers

/// The TLS sessions that later connections resume, as bytes, by peer.
///
/// Part of a `TLSContext`, and therefore of one identity. Callers: any thread. Each session is used once: RFC 8446 §C.4 requires this, and a session that the
/// peer rejects is then not tried a second time.
final class TLSSessionCache: Sendable {
    /// The peer of a session. The name is part of the key, because a resumed handshake does not verify the certificate again.
    struct Key: Hashable, Sendable {
        let host: String
        let port: Int
        let serverName: String
    }

    /// One hour. The certificate is not checked again, so a session must not outlive the check for long.
    static let maxAge = Duration.seconds(3_600)
    /// 64 peers per context. A context serves one credential, which has about two hosts.
    static let maxPeers = 64
    /// 16 sessions per peer: the connections of a pool that may reconnect at once. A peer issues two at a time and could issue more.
    static let maxSessionsPerPeer = 16
    /// 16 KiB per session: enough for a peer's certificate and ticket.
    static let maxSessionBytes = 16_384

    private struct Entry: Sendable {
        let bytes: [UInt8]
        let storedAt: ContinuousClock.Instant
    }

    private let entries = NIOLockedValueBox<[Key: [Entry]]>([:])

    /// Stores a session; beyond a limit the oldest is removed.
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

    /// Removes and returns the newest session; nil if none is young enough.
    func take(_ key: Key, now: ContinuousClock.Instant = .now) -> [UInt8]? {
        entries.withLockedValue { entries in
            guard let entry = entries[key]?.popLast() else { return nil }
            // The other sessions are older.
            let isYoung = entry.storedAt.duration(to: now) < Self.maxAge
            if !isYoung || entries[key]?.isEmpty == true { entries[key] = nil }
            return isYoung ? entry.bytes : nil
        }
    }

    /// Removes the sessions of one peer, because a handshake that offered one has failed.
    func removeAll(_ key: Key) { entries.withLockedValue { $0[key] = nil } }

    private static func newest(_ list: [Entry], _ now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        list.last?.storedAt ?? now
    }
}
