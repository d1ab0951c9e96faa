package import EngineStore
package import Model
package import Secrets
package import Store

/// Makes another master key seal while the nodes run, and seals every secret again. Each step can be repeated, so a rotation that was interrupted is continued
/// by the same call.
package struct MasterKeyRotation: Sendable {
    /// 500 rows per page: some tens of kilobytes.
    static let pageSize = 500
    /// A node that sealed with the old key just before it saw the new one may write a secret during a pass.
    static let passLimit = 5

    /// The progress of a rotation, for its caller to show.
    package enum Progress: Sendable {
        /// These nodes do not have the key, or do not seal with it yet.
        case waiting([NodeID])
        /// The key seals on every node.
        case replaced
        /// Rows that were looked at, of all.
        case sealing(rows: Int, of: Int)
    }

    /// How many secrets each key seals.
    package struct KeyUsage: Sendable, Hashable {
        /// By the id of the key. A key that seals nothing is missing.
        package var counts: [String: Int] = [:]
        /// Secrets that no key of this node opens.
        package var unreadable = 0
        package var rows = 0

        /// The number of secrets that other keys than this one seal.
        package func others(than id: String) -> Int { counts.filter { $0.key != id }.values.reduce(0, +) }
    }

    private let store: PostgresMasterKeyStore
    private let ring: KeyRing
    /// The time limit for each of the two waits for the nodes.
    private let waitLimit: Duration

    package init(store: PostgresMasterKeyStore, ring: KeyRing, waitLimit: Duration) {
        self.store = store
        self.ring = ring
        self.waitLimit = waitLimit
    }

    /// Counts the secrets of each key.
    ///
    /// - Throws: `StoreError`.
    package func usage() async throws -> KeyUsage {
        let resealing = Resealing(ring)
        var usage = KeyUsage()
        try await pages { table, entries in
            usage.rows += entries.count
            for key in entries.flatMap({ resealing.keys(of: $0, in: table) }) {
                if let key { usage.counts[key, default: 0] += 1 } else { usage.unreadable += 1 }
            }
        }
        return usage
    }

    /// Rotates to a key of the ring, or continues an interrupted rotation to it.
    ///
    /// - Returns: the secrets by key at the end.
    /// - Throws: `MasterKeyRotationProblem`, `MasterKeyError`, `StoreError`.
    package func rotate(
        to key: MasterKey,
        by actor: AuditActor,
        progress: (Progress) -> Void
    ) async throws -> KeyUsage {
        if ring.current.id != key.id {
            try await store.want(key.id)
            try await wait(.lacking(key.id), progress) { $0.ids?.contains(key.id) == true }
            let row = try ring.row(for: key)
            guard try await store.replace(ring.current.id, by: row, actor: actor) else {
                throw MasterKeyRotationProblem.overtaken
            }
            try ring.bind(to: row)
        }
        try await wait(.sealing(key.id), progress) { $0.ids?.first == key.id }
        progress(.replaced)
        var usage = try await usage()
        for _ in 0..<Self.passLimit where usage.others(than: key.id) > 0 {
            try await seal(usage.rows, progress)
            usage = try await self.usage()
        }
        guard usage.others(than: key.id) == 0 else {
            throw MasterKeyRotationProblem.unfinished(usage.others(than: key.id))
        }
        return usage
    }

    /// Waits until all nodes are as `isReady` demands.
    private func wait(
        _ obstacle: MasterKeyRotationProblem.Obstacle,
        _ progress: (Progress) -> Void,
        _ isReady: (NodeKeys) -> Bool
    ) async throws {
        let end = ContinuousClock.now + waitLimit
        while true {
            let late = try await store.nodes().filter { !isReady($0) }
            guard !late.isEmpty else { return }
            guard ContinuousClock.now < end else { throw MasterKeyRotationProblem.nodes(late, obstacle) }
            progress(.waiting(late.map(\.node)))
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    private func seal(_ total: Int, _ progress: (Progress) -> Void) async throws {
        let resealing = Resealing(ring)
        var rows = 0
        try await pages { table, entries in
            var changes: [(entry: SealedEntry, stored: [UInt8])] = []
            for entry in entries {
                if let stored = try resealing.resealed(entry, in: table) { changes.append((entry, stored)) }
            }
            try await store.replace(changes, in: table)
            rows += entries.count
            progress(.sealing(rows: rows, of: max(rows, total)))
        }
    }

    private func pages(_ body: (SealedTable, [SealedEntry]) async throws -> Void) async throws {
        for table in SealedTable.allCases {
            var last: SealedEntry?
            while true {
                let entries = try await store.page(of: table, after: last, limit: Self.pageSize)
                if !entries.isEmpty { try await body(table, entries) }
                guard entries.count == Self.pageSize, let end = entries.last else { break }
                last = end
            }
        }
    }
}

/// The reason why a rotation did not end. Repeating the command continues it.
package enum MasterKeyRotationProblem: Error, CustomStringConvertible {
    package enum Obstacle: Sendable {
        case lacking(String)
        case sealing(String)
    }

    case nodes([NodeKeys], Obstacle)
    case overtaken
    case unfinished(Int)

    package var description: String {
        switch self {
        case .nodes(let nodes, let obstacle):
            switch obstacle {
            case .lacking(let key):
                "\(Self.names(nodes)) without master key \(key); nothing has changed yet: give these nodes the key (copy the key file; "
                    + "with master.key.command, the command must print it), update nodes of older versions, and run the command again"
            case .sealing(let key):
                "\(Self.names(nodes)) not sealing with master key \(key) yet: give these nodes the key, and run the command again"
            }
        case .overtaken: "another command has changed the master key meanwhile; look at 'push-gateway master-key list'"
        case .unfinished(let count):
            "\(count) secrets are still sealed with another key, because they are written all the time; run the command again"
        }
    }

    private static func names(_ nodes: [NodeKeys]) -> String {
        let names = nodes.map { "\($0.node)" + ($0.ids == nil ? " (reports no keys)" : "") }.joined(separator: ", ")
        return nodes.count == 1 ? "node \(names) is" : "nodes \(names) are"
    }
}
