import Model
import Postgres

/// Has the planner look at the tables while they grow: after the first batch, and whenever there is ten times as much.
actor ImportStatistics {
    private let maintenance: PostgresMaintenance
    private var imported = 0
    private var next = 1

    init(_ maintenance: PostgresMaintenance) { self.maintenance = maintenance }

    /// - Throws: `StoreError`.
    func imported(_ count: Int) async throws(StoreError) {
        imported += count
        guard imported >= next else { return }
        next = imported * 10
        try await maintenance.analyzeDevices()
    }
}

/// Tries a batch again that may go well in a moment: what is imported twice is the same.
enum ImportRetry {
    /// - Parameters:
    ///   - pauses: before each further try. Unit: seconds.
    ///   - body: writes the batch.
    /// - Returns: what the first try that went well gave.
    /// - Throws: the last try's error.
    static func run<Value: Sendable>(
        pauses: [Int],
        _ body: () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        for pause in pauses {
            do throws(StoreError) {
                return try await body()
            } catch {
                guard error.isRetriable else { throw error }
                try? await Task.sleep(for: .seconds(pause))
            }
        }
        return try await body()
    }
}
