import DeliveryEngine
import EngineStore
import Explain
import Model
import Store

/// Reads the facts of a diagnosis.
struct DeviceDiagnoser: Sendable {
    let devices: PostgresDeviceStore
    let directory: PostgresDirectory
    let dialects: [Vendor: Reporting]

    /// Diagnoses one device; nil when the tenant does not have it.
    ///
    /// - Throws: `StoreError`.
    func diagnose(_ device: DeviceID, in tenant: TenantID, lane: Lane) async throws(StoreError) -> DeviceDiagnosis? {
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
