package import Model
package import PostgresClient

/// Reads rows of the queue.
package enum SliceRow {
    /// The value of the column `kind`.
    package static func kind(of work: SliceLease.Work) -> String {
        switch work {
        case .deliver: "deliver"
        case .expand: "expand"
        }
    }

    /// A claimed slice of `tenant`.
    package static func read(_ row: Row, tenant: TenantID) throws(PostgresError) -> SliceLease {
        let work: SliceLease.Work =
            try row.text("kind") == "expand" ? .expand(after: try row.optionalID("after")) : .deliver
        var lease = SliceLease(
            key: SliceKey(
                tenant: tenant,
                message: try row.id("message_id"),
                number: Int32(clamping: try row.int("no"))
            ),
            epoch: try row.int64("epoch"),
            lane: try row.lane("lane"),
            dueDay: Int32(clamping: try row.int("due_day")),
            work: work,
            targets: try row.uuids("targets").map { TargetID($0) },
            // '' stands for a target that was not named, because arrays are read without NULLs.
            addresses: try row.texts("addresses").map { Address(canonical: $0) },
            done: try row.bytes("done"),
            attempts: Int16(clamping: try row.int("attempts")),
            lapses: Int16(clamping: try row.int("lapses"))
        )
        lease.followsLapse = try row.bool("has_lapsed")
        return lease
    }
}
