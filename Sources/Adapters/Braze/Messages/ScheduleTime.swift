import Model

/// The object `schedule`: the time of a send (docs/contracts/braze.md#5.7).
struct ScheduleTime: Hashable {
    /// Nil on a local schedule.
    private(set) var dueAt: Timestamp?
    private(set) var localDue: LocalTime?

    /// What the end of the message is counted from. Assumed: on a local schedule that is the clock's, too, so that its life is as long in every zone.
    var start: Timestamp { dueAt ?? Timestamp(seconds: localDue?.seconds ?? 0) }

    /// `at_optimal_time` is ignored (docs/contracts/braze.md#5.7).
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    init(_ value: JSON?, at now: Timestamp) throws(AdapterError) {
        guard let fields = value?.object else { throw BrazeText.fault("schedule") }
        guard let text = fields["time"]?.string, let time = BrazeTime.parse(text) else {
            throw AdapterError(.invalid, field: BrazeText.sendAt)
        }
        switch fields["in_local_time"] {
        case nil, .null?, false?:
            guard time >= now else { throw AdapterError(.invalid, field: BrazeText.past) }
            dueAt = time
        case true?:
            // What the clock shows; a zone behind it says nothing.
            guard let local = LocalTime(String(text.prefix(19))), local.latest >= now else {
                throw AdapterError(.invalid, field: BrazeText.past)
            }
            localDue = local
        default: throw BrazeText.fault("schedule.in_local_time")
        }
    }
}
