import Adapters
package import EngineStore
import Foundation
package import Model
import Routing
package import Secrets
package import Store

/// Applies a provisioning file: reads, checks and seals it, and stores it in one transaction.
package struct Provisioner: Sendable {
    let store: PostgresProvisioningStore
    let directory: PostgresDirectory
    let keyRing: KeyRing
    let vendors: VendorCatalog

    package init(
        store: PostgresProvisioningStore,
        directory: PostgresDirectory,
        keyRing: KeyRing,
        vendors: VendorCatalog = .product
    ) {
        self.store = store
        self.directory = directory
        self.keyRing = keyRing
        self.vendors = vendors
    }

    /// - Throws: `ProvisioningProblem` for the file, `ProvisioningError` for the stored objects, `MasterKeyError`.
    package func apply(
        fileAt path: String,
        allowsInlineSecrets: Bool,
        by actor: AuditActor = .provisioning
    ) async throws -> ProvisioningSummary {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ProvisioningProblem(path: "", problem: "cannot read \(path)")
        }
        let directory = (path as NSString).deletingLastPathComponent
        let reader = ProvisioningReader(
            directory: directory.isEmpty ? "." : directory,
            environment: ProcessInfo.processInfo.environment,
            allowsInlineSecrets: allowsInlineSecrets,
            vendors: vendors
        )
        let file = try reader.read(String(decoding: data, as: UTF8.self))
        let (applied, notes) = try await stored(file, by: actor)
        var summary = applied
        summary.warnings =
            notes + SenderWarnings(vendors: vendors).warnings(of: file)
            + DefaultWarnings(vendors: vendors).warnings(of: file)
            + SecretWarnings(vendors: vendors).warnings(of: file)
            + ContentWarnings.warnings(of: file)
        return summary
    }

    /// Three attempts: a rotation may replace the master key between sealing and storing, and a call may change rules between reading and storing them.
    private static let attempts = 3

    private func stored(
        _ file: ProvisioningFile,
        by actor: AuditActor
    ) async throws -> (summary: ProvisioningSummary, notes: [String]) {
        var attempt = 0
        while true {
            attempt += 1
            try await checkMasterKey()
            let key = keyRing.current.id
            let sealing = ProvisioningSealer(keyRing: keyRing)
            var tenants = try file.tenants.map { try sealing.provisioned($0) }
            var notes: [String] = []
            for (index, tenant) in file.tenants.enumerated() {
                let routes = try await routes(of: tenant)
                tenants[index].routes = routes.drafts
                tenants[index].checkedUpstreams = routes.checked
                let upstreams = ProvisioningReader.upstreams(of: tenant.credentials, vendors)
                tenants[index].upstreams = upstreams.mapValues(\.json)
                notes += routes.notes
            }
            do throws(ProvisioningError) {
                return (try await store.apply(tenants, sealedBy: key, by: actor), notes)
            } catch {
                let passes = error == .masterKeyReplaced || error == .routesChanged
                guard passes, attempt < Self.attempts else { throw error }
            }
        }
    }

    private func routes(of tenant: ProvisioningFile.Tenant) async throws -> RouteDrafts {
        let stored = try await store.routes.current(in: tenant.id)
        // Upstreams of the file that it lists no longer are removed with it.
        let listed = Set(tenant.credentials.map(\.id))
        let others = try await directory.upstreams(of: tenant.id).filter { credential in
            credential.origin == .api && !listed.contains(credential.key.credential)
        }
        return try RouteDrafts(
            tenant,
            upstreams: ProvisioningReader.upstreams(of: tenant.credentials, vendors),
            others: StoredUpstreams(others, vendors, keyRing),
            stored: stored,
            dialects: Set(vendors.byVendor.keys)
        )
    }

    /// Seals with the key that this database names, which is the newest one of this node if it names none yet.
    ///
    /// - Throws: `MasterKeyError.mismatch` when this node does not have that key, `StoreError`.
    package func checkMasterKey() async throws { try await keyRing.bind(to: directory) }
}
