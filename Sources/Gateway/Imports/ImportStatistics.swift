package import EngineStore
package import Model

/// Makes the planner analyze the growing tables: after the first batch, and whenever the imported rows have increased tenfold.
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
