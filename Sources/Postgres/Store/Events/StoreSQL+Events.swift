/// Parts of statements that read the event log.
extension StoreSQL {
    /// More than the number of events in any batch (`write_events`).
    package static let batchLimit = 500

    /// A query for the last offset of a tenant. No row before its first event.
    package static func lastEvent(of tenant: String) -> String {
        "SELECT p.last FROM gateway.event_position p WHERE p.tenant_id = \(tenant) ORDER BY p.last DESC LIMIT 1"
    }

    /// The columns of event number `i` of the batch `b`.
    package static let batchedEvent = """
        b.last - b.count + i AS position, b.at, b.kind, b.app_id, b.vendor, b.sender_id, \(element("messages")) AS message_id, \
        \(element("targets")) AS target_id, \(element("due_days")) AS due_day, \(element("identities")) AS identity_id, \
        \(element("devices")) AS device_id, \(element("data")) AS data, \(element("reasons")) AS reason
        """

    /// The same columns of the row `s` of `event_single`.
    package static let singleEvent = """
        s.position, s.at, s.kind, s.app_id, s.vendor, s.sender_id, s.message_id, s.target_id, s.due_day, s.identity_id, s.device_id, s.data, \
        NULL::text AS reason
        """

    /// An array of one element applies to all events of its batch.
    private static func element(_ column: String) -> String {
        "CASE cardinality(b.\(column)) WHEN 1 THEN b.\(column)[1] ELSE b.\(column)[i] END"
    }
}
