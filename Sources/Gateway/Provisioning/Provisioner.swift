import Adapters
package import EngineStore
import Foundation
package import Model
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
        var summary = try await stored(file, by: actor)
        summary.warnings =
            SenderWarnings(vendors: vendors).warnings(of: file) + DefaultWarnings(vendors: vendors).warnings(of: file)
            + ContentWarnings.warnings(of: file)
        return summary
    }

    /// Two attempts: a rotation may replace the master key between sealing and storing.
    private static let attempts = 2

    private func stored(_ file: ProvisioningFile, by actor: AuditActor) async throws -> ProvisioningSummary {
        var attempt = 0
        while true {
            attempt += 1
            try await checkMasterKey()
            let key = keyRing.current.id
            let sealing = ProvisioningSealer(keyRing: keyRing)
            let tenants = try file.tenants.map { try sealing.provisioned($0) }
            do throws(ProvisioningError) {
                return try await store.apply(tenants, sealedBy: key, by: actor)
            } catch {
                guard error == .masterKeyReplaced, attempt < Self.attempts else { throw error }
            }
        }
    }

    /// Seals with the key that this database names, which is the newest one of this node if it names none yet.
    ///
    /// - Throws: `MasterKeyError.mismatch` when this node does not have that key, `StoreError`.
    package func checkMasterKey() async throws { try await keyRing.bind(to: directory) }
}
