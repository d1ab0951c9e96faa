import DeliveryEngine
package import EngineStore
package import Model
import Routing
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
        diagnosis.upstream = try await upstream(of: facts, in: tenant)
        try await addWaits(to: &diagnosis, in: tenant)
        return diagnosis
    }

    /// Reads what messages may wait for. Most devices have none that waits.
    private func addWaits(to diagnosis: inout DeviceDiagnosis, in tenant: TenantID) async throws(StoreError) {
        guard !diagnosis.facts.waiting.isEmpty else { return }
        for holder in Set(diagnosis.facts.waiting.compactMap { $0.queue?.heldBy }) {
            diagnosis.holders[holder] = try await directory.standing(
                of: CredentialKey(tenant: tenant, credential: holder)
            )
        }
        var names = [PushRate.tenantBudget]
        if let peer = diagnosis.upstream ?? diagnosis.credential { names.append(PushRate.budget(of: peer)) }
        diagnosis.spentBudgets = try await directory.spentBudgets(among: names, in: tenant)
    }

    /// The first upstream among the paths of the device's active registrations. Tags are not looked up: rules that name some do not match.
    private func upstream(of facts: DiagnosisFacts, in tenant: TenantID) async throws(StoreError) -> CredentialID? {
        guard let stored = try await directory.rulesInForce(of: facts.device.app, in: tenant),
            let table = (try? RouteSet(stored))?.table
        else { return nil }
        for target in facts.identities.map(\.target) where target.identityState == .active {
            let delivery = RouteTable.Delivery(to: target, lane: facts.lane)
            if let found = table.decide(delivery).paths.lazy.compactMap(\.upstream).first { return found }
        }
        return nil
    }
}
