extension LockOrder {
    /// Deviations that cannot deadlock, each with the reason.
    package static let exceptions: [Exception] = written + locked + ordered

    /// The transaction has inserted these rows itself, so that no other transaction sees them.
    private static let written: [Exception] = [
        Exception("expand_paced", "slice", "the slices are those that `expand_slice` has inserted"),
        Exception("expand_variants", "slice", "the slices are those that `expand_slice` has inserted"),
        Exception("take_badges", "badge_mark", after: "badge", "only the marks that this call has inserted"),
        Exception("create_group", "user_group", "the group's name is a number that was not given out before"),
    ]

    /// The transaction holds a lock that every writer of these rows takes first.
    private static let locked: [Exception] = [
        Exception("record_outcomes", "message", "locked first, in every case in which it is written"),
        Exception("acknowledge > record_receipt", "delivery", after: "badge badge_mark", "locked before the badge"),
        Exception("split_slice", nil, "the flush has locked the message and the slice first"),
        Exception("move_due", nil, "the flush has locked the slice first"),
        Exception("return_route", nil, "the flush has locked the slice first"),
        Exception(
            "report_number > mark_deliveries",
            nil,
            "only after `orphan`, for which `record_receipt` writes nothing"
        ),
        Exception(
            "write_audit",
            "audit_key audit_subject audit",
            after: "audit_key audit_subject audit",
            "the audit's name is locked first"
        ),
        Exception(
            "forget_subjects",
            "audit_key audit_subject audit",
            after: "audit_key audit_subject audit",
            "the audit's name is locked first"
        ),
        Exception("register_tagged", "identity identity_tag", "the registration has written the identity"),
        Exception("register_timed", "identity identity_tag device", "the registration has written identity and device"),
        Exception("register_identity", "identity identity_tag device", "devices and identities are locked first"),
        Exception("update_token", "identity device", "devices and identities are locked first"),
        Exception("unregister_identities", "device", "devices and identities are locked first"),
        Exception("put_users", "user_profile user_alias user_act user_tally", "the profiles are locked first"),
        Exception("move_user", "user_profile user_alias user_act user_tally", "the profiles are locked first"),
        Exception("keep_users", "user_profile user_alias user_act user_tally", "the profiles are locked first"),
    ]

    /// Rows of one kind are taken in their order, each with what belongs to it.
    private static let ordered: [Exception] = [
        Exception("poll_inbox > touch_deliveries", "delivery", after: "inbox_open", "message by message"),
        Exception("settle_messages", "message", after: "message_open", "message by message"),
        Exception("erase_user > change_members", "user_group group_member", "group by group, in the order of names"),
        Exception("erase_users > change_members", "user_group group_member", "group by group, in the order of names"),
        Exception("move_user > change_members", "user_group group_member", "group by group, in the order of names"),
        Exception("end_upstream_calls", "upstream_call", after: "upstream_user", "call by call, in the order of keys"),
        Exception("import_people > change_members", "user_group group_member", "group by group, in the order of names"),
        Exception("import_people > put_group", "name:groups user_group", "group by group, in the order of names"),
        Exception("tag_device", "identity", after: "identity_tag", "identity by identity, in the order of ids"),
        // `uses_windows`, `shares_devices` and `has_first_keys` are written once in the life of an app. A deadlock at that moment is repeated by the pool.
        Exception("set_clock", "app", "written once in the life of an app"),
        Exception("register_timed > set_clock", "app", "written once in the life of an app"),
        Exception("set_preferences > set_clock", "app", "written once in the life of an app"),
        Exception("import_clocks > set_clock", "app", "written once in the life of an app"),
        Exception("register_identity", "app", after: "name:key name:token", "written once in the life of an app"),
        Exception("register_many", "app", after: "name:key name:token", "written once in the life of an app"),
        Exception("register_identity > note_sharing", "app", "written once in the life of an app"),
        Exception("register_noted > register_identity", "app", after: "name:key", "written once in the life of an app"),
        Exception(
            "import_new",
            "app",
            after: "client_version name:groups user_profile user_group group_member group_count",
            "written once in the life of an app"
        ),
        // A new version is inserted under a lock that is only tried, so no transaction waits for the row.
        Exception("register_identity > client_number", "client_version", "never waits for another transaction"),
        Exception("register_many", "device", after: "client_version", "never waits for another transaction"),
        Exception("update_token > note_sharing", "app", "written once in the life of an app"),
        // `note_sightings` skips rows that other transactions have locked.
        Exception("record_receipt > note_sightings", "identity", "never waits for another transaction"),
        Exception("settle_receipts > note_sightings", "identity", "never waits for another transaction"),
        Exception("acknowledge > record_receipt", "identity", "never waits for another transaction"),
    ]

    /// Deviations of registrations and erasures that can deadlock; the pool repeats the transaction that loses.
    package static let registrationFaults: [Exception] = [
        Exception("register_identity", "name:quota", after: "identity_count", "a replaced identity is counted first"),
        Exception("register_identity > move_badge", "badge_mark badge", "a replaced identity is counted first"),
        Exception("end_identities", nil, "one identity after the other, each with its events"),
        Exception("import_each", nil, "one row after the other, in the order of the file"),
        Exception("import_rows", nil, "one row after the other, in the order of the file"),
        Exception("import_identities", nil, "one row after the other, in the order of the file"),
        Exception("put_users > move_user", "user_group group_member group_count", "groups behind identities"),
        Exception("erase_rows", nil, "deliveries and counts are changed before slices, identities and devices"),
        Exception(
            "erase_late",
            "message message_media message_variable page",
            "the messages of deliveries are found by changing these"
        ),
        Exception("erase_users", nil, "the user's own rows are deleted behind the devices"),
        Exception("erase_user", nil, "the user's own rows are deleted behind the devices"),
        Exception(
            "forget_user",
            "message_variable campaign_mark user_profile",
            "the user's own rows are deleted behind the badges"
        ),
    ]
}
