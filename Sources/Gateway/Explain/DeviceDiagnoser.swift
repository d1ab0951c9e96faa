import DeliveryEngine
package import EngineStore
package import Model
package import Store

/// Reads the facts of a diagnosis.
package struct DeviceDiagnoser: Sendable {
    let devices: PostgresDeviceStore
    let directory: PostgresDirectory
    let dialects: [Vendor: Reporting]

    package init(devices: PostgresDeviceStore, directory: PostgresDirectory, dialects: [Vendor: Reporting]) {
        self.devices = devices
        self.directory = directory
        self.dialects = dialects
    }

    /// Diagnoses one device; nil when the tenant does not have it.
    ///
    /// - Throws: `StoreError`.
    package func diagnose(
        _ device: DeviceID,
        in tenant: TenantID,
        lane: Lane
    ) async throws(StoreError) -> DeviceDiagnosis? {
        guard let facts = try await devices.diagnosis(of: device, in: tenant, lane: lane) else { return nil }
        var diagnosis = DeviceDiagnosis(facts: facts, dialects: dialects)
        if let credential = diagnosis.credential {
            diagnosis.standing = try await directory.standing(
                of: CredentialKey(tenant: tenant, credential: credential)
            )
        }
        return diagnosis
    }
}
