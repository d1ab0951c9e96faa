package import EngineStore
package import Model

/// Has the planner look at the tables while they grow: after the first batch, and whenever there is ten times as much.
package actor ImportStatistics {
    private let maintenance: PostgresMaintenance
    private var imported = 0
    private var next = 1

    package init(_ maintenance: PostgresMaintenance) { self.maintenance = maintenance }

    /// - Throws: `StoreError`.
    package func imported(_ count: Int) async throws(StoreError) {
        imported += count
        guard imported >= next else { return }
        next = imported * 10
        try await maintenance.analyzeDevices()
    }
}
