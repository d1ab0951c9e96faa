/// The order in which every transaction locks rows (docs/architecture.md, "Lock order").
///
/// Two transactions that lock in one order cannot deadlock. `LockWalk` finds what each transaction can lock; this is the list that it must keep,
/// with the places that may deviate from it.
package struct LockOrder: Sendable {
    /// Tables, and names of `lock_name` and `lock_names` (`name:key`), in the order in which a transaction takes them.
    package static let declared: [String] = """
        name:answer idempotency name:webhooks name:campaign name:template name:capture name:verification name:expected name:gateway.delivery~partitions
        tenant account account_role console_session account_invitation account_attempt
        api_key api_key_use master_key provider_token log_generation node singleton binding credential budget app route_set
        migration migration_history
        name:key name:token expected_user name:phone name:user
        user_profile user_alias user_act user_tally campaign_mark name:groups user_group group_member group_count
        activity_token challenge device client_version identity identity_tag verification erased_identity
        campaign message_template schedule name:duplicate message message_ref message_label message_media message_variable message_number page media
        lane slice message_open upstream_call upstream_user delivery
        badge_mark badge inbox_open
        webhook name:senders sender capture captured_exchange
        event_reader receipt_mark latency device_sketch device_change property_count parity_count
        observed_figure name:counts counter_delta counter counter_reason orphan_receipt message_counter counter_fold
        name:quota identity_count variant api_key_day
        name:audit audit_key audit_subject audit audit_checkpoint audit_copy
        name:events event_single event_batch event_position vendor_sequence
        outbox_upstream outbox_queue outbox
        """.split(whereSeparator: \.isWhitespace).map { String($0).replacing("~", with: " ") }

    /// A transaction addresses at most one row of these tables, so a second lock of the table is one that it holds already.
    static let singleRows: Set<String> = ["message", "schedule"]

    /// A place that may take a lock out of order.
    package struct Exception: Sendable {
        /// A function, with everything that it calls directly, or the first words of a statement.
        var place: String
        /// The tables that are locked out of order; nil: any.
        var later: Set<String>?
        /// The tables that are locked before them; nil: any.
        var earlier: Set<String>?
        var reason: String

        init(_ place: String, _ later: String? = nil, after earlier: String? = nil, _ reason: String) {
            self.place = place
            self.later = later.map { Set($0.split(separator: " ").map(String.init)) }
            self.earlier = earlier.map { Set($0.split(separator: " ").map(String.init)) }
            self.reason = reason
        }

        package func includes(_ found: PlacedPair) -> Bool {
            (found.place == place || found.place.hasPrefix(place + " > ")) && later?.contains(found.pair.later) ?? true
                && earlier?.contains(found.pair.earlier) ?? true
        }
    }

    /// Whether a pair keeps the order. A table that is not in the list does not.
    package static func keeps(_ pair: LockPair) -> Bool {
        guard let earlier = ranks[pair.earlier], let later = ranks[pair.later] else { return false }
        return earlier < later
    }

    private static let ranks = Dictionary(uniqueKeysWithValues: declared.enumerated().map { ($1, $0) })

    /// The pairs that are neither in order nor excepted.
    package static func deviations(in pairs: Set<PlacedPair>, except exceptions: [Exception]) -> [PlacedPair] {
        pairs.filter { found in !keeps(found.pair) && !exceptions.contains { $0.includes(found) } }.sorted()
    }
}
