package import Model
import PostgresClient
import Store

/// The people and keys that have seen the secret of an API key: those that created or rotated it, by the audit. Retention removes these rows, also while the
/// key is in use.
extension PostgresKeyStore {
    /// 64 keys. A longer chain counts as one with a common member, so that it cannot avoid the comparison.
    private static let lineageLimit = 64

    /// Whether one caller can have acted as both actors: one of them made the other's key or a secret of it, or the same key or account did that for
    /// both, directly or through other keys. Also true if there are too many of them to follow. Commands and provisioning files do not count: whoever runs
    /// them can do everything.
    ///
    /// - Throws: `StoreError`.
    package func mayBeOne(_ first: String, _ second: String, in tenant: TenantID) async throws(StoreError) -> Bool {
        if first == second { return true }
        guard let one = try await holders(of: first, in: tenant), let other = try await holders(of: second, in: tenant)
        else { return true }
        return !one.isDisjoint(with: other)
    }

    /// The actor, and the keys and accounts that can have acted as it. Nil: more than `lineageLimit`.
    private func holders(of actor: String, in tenant: TenantID) async throws(StoreError) -> Set<String>? {
        try await asStore { () throws(PostgresError) -> Set<String>? in
            var found: Set<String> = [actor]
            var open = [actor]
            while let next = open.popLast() {
                guard let key = Self.keyName(next) else { continue }
                if found.count > Self.lineageLimit { return nil }
                let statement = DirectorySQL.keyHolders(.id(tenant), .string("key \(key)"))
                for row in try await engine.run(statement, tenant: tenant.rawValue) {
                    let holder = try row.text("actor")
                    let counts = holder.hasPrefix("account:") || Self.keyName(holder) != nil
                    if counts, found.insert(holder).inserted { open.append(holder) }
                }
            }
            return found
        }
    }

    /// The name of an actor that is a key (`AuditActor.key`).
    private static func keyName(_ actor: String) -> Substring? {
        actor.hasPrefix("key:") ? actor.dropFirst(4) : nil
    }
}
