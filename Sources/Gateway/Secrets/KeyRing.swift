package import EngineStore
package import Model
import NIOConcurrencyHelpers

/// The master keys of this process. One of them, which the database names, seals; all of them open.
///
/// It is shared and changes while the node runs: keys are added and removed, and a rotation makes another key seal.
package final class KeyRing: Sendable {
    /// 8 keys: an open of a secret that none of them sealed tries all.
    package static let limit = 8
    private static let rootContext = "master-key/root"

    private struct State {
        var keys: [MasterKey]
        var current: MasterKey
        var root: RootSecret
    }

    private let state: NIOLockedValueBox<State>

    /// - Parameter keys: in the order of the source. Until `bind`, the last one seals.
    /// - Throws: `MasterKeyError.tooMany`, `.twice`, `.wrongLength` without keys.
    package init(_ keys: [MasterKey]) throws(MasterKeyError) {
        try Self.check(keys)
        guard let last = keys.last else { throw .wrongLength(0) }
        state = NIOLockedValueBox(State(keys: keys, current: last, root: last.root))
    }

    private static func check(_ keys: [MasterKey]) throws(MasterKeyError) {
        guard keys.count <= limit else { throw .tooMany(keys.count) }
        var seen: Set<String> = []
        for key in keys where !seen.insert(key.id).inserted { throw .twice(key.id) }
    }

    // MARK: The keys

    /// All keys, in the order of the source.
    package var keys: [MasterKey] { state.withLockedValue { $0.keys } }

    /// The key that seals.
    package var current: MasterKey { state.withLockedValue { $0.current } }

    /// The ids of all keys, that of the sealing key first.
    package var ids: [String] {
        state.withLockedValue { state in [state.current.id] + state.keys.map(\.id).filter { $0 != state.current.id } }
    }

    /// The row of a database that has none yet.
    package var check: MasterKeyCheck {
        let current = current
        return MasterKeyCheck(keyID: current.id, checkValue: current.checkValue)
    }

    /// Seals from now on with the key that the database names; a database that names none gets the newest key of this ring.
    ///
    /// - Throws: `MasterKeyError.mismatch` when this ring does not contain the key, `StoreError`.
    package func bind(to directory: PostgresDirectory) async throws {
        try bind(to: try await directory.adoptMasterKey(check))
    }

    /// Seals from now on with the key that the database names.
    ///
    /// - Returns: whether another key sealed before.
    /// - Throws: `MasterKeyError.mismatch` when this ring does not contain the key, `.notOurs` when the root secret cannot be opened.
    @discardableResult
    package func bind(to row: MasterKeyCheck) throws(MasterKeyError) -> Bool {
        let (keys, old) = state.withLockedValue { ($0.keys, $0.current.id) }
        guard let key = keys.first(where: { $0.id == row.keyID && $0.checkValue == row.checkValue }) else {
            throw .mismatch(stored: row.keyID, ours: keys.map(\.id))
        }
        var root = key.root
        if let sealed = row.root {
            root = RootSecret(bytes: try key.open(sealed, context: Self.rootContext))
        }
        let found = root
        state.withLockedValue {
            $0.current = key
            $0.root = found
        }
        return old != key.id
    }

    /// The row that makes `key` seal, with the present root secret.
    ///
    /// - Throws: `MasterKeyError.sealing`.
    package func row(for key: MasterKey) throws(MasterKeyError) -> MasterKeyCheck {
        let root = state.withLockedValue { $0.root }
        return MasterKeyCheck(
            keyID: key.id,
            checkValue: key.checkValue,
            root: try key.seal(root.bytes, context: Self.rootContext)
        )
    }

    /// Uses the keys that the source contains now.
    ///
    /// - Returns: whether there are others than before.
    /// - Throws: `MasterKeyError`; the keys stay. `.withoutCurrent` when the sealing key is missing.
    @discardableResult
    package func replace(_ keys: [MasterKey]) throws(MasterKeyError) -> Bool {
        try Self.check(keys)
        let (old, current) = state.withLockedValue { ($0.keys.map(\.id), $0.current.id) }
        guard keys.map(\.id) != old else { return false }
        guard keys.contains(where: { $0.id == current }) else { throw .withoutCurrent(current) }
        state.withLockedValue { $0.keys = keys }
        return true
    }

    // MARK: Secrets

    /// Seals with the present key (`MasterKey.seal`).
    ///
    /// - Throws: `MasterKeyError.sealing`.
    package func seal(_ secret: [UInt8], context: String) throws(MasterKeyError) -> [UInt8] {
        try current.seal(secret, context: context)
    }

    /// Seals with the present key, with equal output for equal secrets and contexts (`MasterKey.sealSame`).
    ///
    /// - Throws: `MasterKeyError.sealing`.
    package func sealSame(_ secret: [UInt8], context: String) throws(MasterKeyError) -> [UInt8] {
        try current.sealSame(secret, context: context)
    }

    /// Opens a secret that any key of the ring has sealed for the same `context`.
    ///
    /// - Throws: `MasterKeyError.notOurs`.
    package func open(_ sealed: [UInt8], context: String) throws(MasterKeyError) -> [UInt8] {
        guard let opened = opened(sealed, context: context) else { throw .notOurs }
        return opened.secret
    }

    /// The secret and the id of the key that sealed it; nil when no key of the ring did. The tag of AES-GCM decides.
    package func opened(_ sealed: [UInt8], context: String) -> (secret: [UInt8], key: String)? {
        let (keys, current) = state.withLockedValue { ($0.keys, $0.current) }
        for key in [current] + keys.reversed().filter({ $0.id != current.id }) {
            if let secret = try? key.open(sealed, context: context) { return (secret, key.id) }
        }
        return nil
    }

    /// The 32 bytes that sign the calls to a sender. No rotation changes them.
    package func senderSecret(_ tenant: TenantID, _ app: AppID, _ vendor: Vendor, _ sender: SenderID) -> [UInt8] {
        state.withLockedValue { $0.root }.senderSecret(tenant, app, vendor, sender)
    }

    /// 32 bytes for one purpose. No rotation changes them.
    package func derived(_ purpose: String) -> [UInt8] { state.withLockedValue { $0.root }.derived(purpose) }
}
