package import APNs
import Adapters
package import EngineStore
package import Model
import Routing
package import Secrets
package import Store

/// Reads, checks and seals the apps and credentials of calls of the native API by the rules of provisioning files, and stores them.
///
/// The members are those of the file. Where a file names another file or a variable of the environment, a call contains the content: `privateKey` in place of
/// `privateKeyFile`. Nothing is read from the node.
package struct ObjectProvisioner: Sendable {
    /// The size of a key or a certificate in a call.
    package static let contentBytes = ProvisioningReader.contentBytes

    private let store: PostgresObjectStore
    private let directory: PostgresDirectory
    private let keyRing: KeyRing
    private let vendors: VendorCatalog

    package init(
        store: PostgresObjectStore,
        directory: PostgresDirectory,
        keyRing: KeyRing,
        vendors: VendorCatalog = .product
    ) {
        self.store = store
        self.directory = directory
        self.keyRing = keyRing
        self.vendors = vendors
    }

    private var reader: ProvisioningReader {
        var reader = ProvisioningReader(
            directory: "",
            environment: [:],
            allowsInlineSecrets: true,
            vendors: vendors
        )
        reader.containsFiles = true
        return reader
    }

    /// Creates or replaces a credential.
    ///
    /// - Parameters:
    ///   - credential: its id.
    ///   - members: those of `credentials` of a file, without the id.
    ///   - tenant: its tenant.
    ///   - actor: the caller.
    /// - Returns: what was done.
    /// - Throws: `ProvisioningProblem` with the name of a wrong member as its path, `MasterKeyError`, `StoreError`.
    package func put(
        _ credential: CredentialID,
        _ members: JSONObject,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws -> ObjectWrite {
        let read = try stated { () throws(ProvisioningProblem) in
            let read = try reader.credential(Self.named(credential.rawValue, members), "")
            try CredentialCheck.requireFields(of: read)
            return read
        }
        return try await sealed { sealer, key in
            try await store.put(
                try sealer.provisioned(read, tenant: tenant),
                facts: ProvisioningReader.facts(about: read, vendors)?.json,
                sealedBy: key,
                in: tenant,
                by: actor
            )
        }
    }

    /// Checks a credential as `put` does, and whether it can send what it would be used for. Nothing is stored.
    ///
    /// - Returns: the findings; nil: an upstream.
    /// - Throws: `ProvisioningProblem` with the name of a wrong member as its path.
    package func check(
        _ credential: CredentialID,
        _ members: JSONObject,
        for uses: [CredentialUse],
        at now: Timestamp
    ) throws(ProvisioningProblem) -> CredentialPreflight? {
        let opened = try stated { () throws(ProvisioningProblem) in
            try CredentialCheck.opened(try reader.credential(Self.named(credential.rawValue, members), ""))
        }
        return opened?.preflight(for: uses, at: now)
    }

    /// Creates or replaces an app with its bindings.
    ///
    /// - Parameters:
    ///   - app: its id.
    ///   - members: those of `apps` of a file, without the id.
    ///   - tenant: its tenant.
    ///   - actor: the caller.
    /// - Returns: what was done.
    /// - Throws: `ProvisioningProblem` with the name of a wrong member as its path, `MasterKeyError`, `StoreError`.
    package func put(
        _ app: AppID,
        _ members: JSONObject,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws -> ObjectWrite {
        // The store checks them in the transaction of the write.
        let known = Dictionary(
            Self.credentials(named: members).map { ($0, CredentialRole.push) },
            uniquingKeysWith: { first, _ in first }
        )
        let read = try stated { () throws(ProvisioningProblem) in
            let read = try reader.app(Self.named(app.rawValue, members), "", credentials: known)
            var tenants = [
                ProvisioningFile.Tenant(
                    id: tenant,
                    apiKeys: [],
                    credentials: [],
                    apps: [read],
                    retention: TenantRetention()
                )
            ]
            try reader.complete(&tenants)
            return tenants[0].apps[0]
        }
        return try await sealed { sealer, key in
            try await store.put(try sealer.provisioned(read, tenant: tenant), sealedBy: key, in: tenant, by: actor)
        }
    }

    /// - Throws: `StoreError`.
    package func remove(
        _ credential: CredentialID,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> ObjectWrite {
        try await store.remove(credential, in: tenant, by: actor)
    }

    /// - Throws: `StoreError`.
    package func remove(
        _ app: AppID,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> ObjectWrite {
        try await store.remove(app, in: tenant, by: actor)
    }

    /// Two attempts: a rotation may replace the master key between sealing and storing.
    private static let attempts = 2

    private func sealed(
        _ write: (ProvisioningSealer, String) async throws -> ObjectWrite
    ) async throws -> ObjectWrite {
        var outcome = ObjectWrite.refused(.masterKeyReplaced)
        for _ in 0..<Self.attempts where outcome == .refused(.masterKeyReplaced) {
            try await keyRing.bind(to: directory)
            outcome = try await write(ProvisioningSealer(keyRing: keyRing), keyRing.current.id)
        }
        return outcome
    }

    private static func named(_ id: String, _ members: JSONObject) -> JSON {
        var object = members
        object["id"] = .string(id)
        return .object(object)
    }

    /// The names in the place of credentials of an app, whatever else is there.
    private static func credentials(named members: JSONObject) -> [CredentialID] {
        (members["platforms"]?.object?.pairs ?? []).flatMap { _, platform in
            PushEnvironment.allCases.compactMap { platform[$0.rawValue]?.lenientString.map { CredentialID($0) } }
        }
    }

    /// Runs a read and reports its problems in the words of a call.
    private func stated<Value>(
        _ read: () throws(ProvisioningProblem) -> Value
    ) throws(ProvisioningProblem) -> Value {
        do throws(ProvisioningProblem) { return try read() } catch {
            let path = error.path.hasPrefix(".") ? String(error.path.dropFirst()) : error.path
            // A member that was not read keeps its name.
            let isUnknown = error.problem == "is not a known key"
            throw ProvisioningProblem(
                path: isUnknown ? path : ProvisioningReader.contentKey(path),
                problem: error.problem.replacing(/(\w+)Env or \w+File/) { $0.1 }.replacing(/\b(\w+)File\b/) { $0.1 }
            )
        }
    }
}
