package import Model

/// What a store does with campaigns, schedules and labels, for `StoreStatement.campaigns`. A scope's own only: the native API asks in the dialect's.
package enum CampaignStatement: Sendable, Hashable {
    /// With a row of the audit when somebody is named. → `.campaignPut`; nil: there are `limit` already
    case put(id: String, name: String, body: JSONObject, limit: Int, by: String?)
    /// → `.campaigns` with one or none
    case find(String)
    /// → `.campaigns`, in the order of their ids byte by byte
    case list(after: String?, limit: Int)
    /// With a row of the audit when somebody is named. → `.count`
    case remove(String, by: String?)
    /// Cancels the message of a schedule that is to have another one. It must be what was read, and still to come, else nothing of the transaction is done:
    /// `StoreError.outdated`. Before the acceptance, which writes events: whoever steers a message locks it before the tenant's events. → `.count`
    case withdraw(Schedule.Version)
    /// After the acceptance of its message. → `.count`
    case keep(ScheduleDraft, MessageID)
    /// → `.schedules` with one or none
    case schedule(MessageID)
    /// Those whose message is scheduled, by due time. → `.schedules`
    case schedules(until: Timestamp?, limit: Int)
    /// Cancels its message if that is scheduled. → `.count`
    case drop(MessageID, at: Timestamp)
    /// After its acceptance. → `.count`
    case label(MessageID, [String])
    /// → `.series`, in the order of days
    case series(label: String, days: ClosedRange<Int32>)
}
