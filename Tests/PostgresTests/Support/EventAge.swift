/// Makes events appear older, as time would.
enum EventAge {
    /// The statement that makes the batches that match `condition` older by whole days.
    static func older(by days: Int, where condition: String = "true") -> String {
        "UPDATE gateway.event_batch SET at = at - interval '\(days) days', day = day - \(days) WHERE \(condition)"
    }
}
