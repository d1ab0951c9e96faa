import Commands
import Model

// What is read before it is changed, and what became of messages.
extension PostgresCommandStore {
    func expect(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey, _ attributes: JSONObject)
        -> StoreQuestion
    {
        .counting(
            RegistrationSQL.expect(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .id(key),
                .string(DocumentText.of(attributes))
            )
        )
    }

    func report(_ tenant: TenantID, _ scope: AppScope, _ message: MessageID) -> StoreQuestion {
        StoreQuestion(
            SubmissionSQL.report(.id(tenant), .id(message), .id(scope.app), .id(scope.vendor))
        ) { (result) throws(PostgresError) in
            guard let first = result.first else { return .report(nil) }
            var report = MessageReport(
                message: try first.id("message_id"),
                state: try first.word("state"),
                content: ContentCoding.decode(try first.object("content")),
                acceptedAt: try first.time("accepted_at")
            )
            for row in result {
                guard try !row.isNull("outcome") else { continue }
                report.tallies.append(
                    MessageReport.Tally(
                        state: try row.word("outcome"),
                        reason: try row.optionalText("reason"),
                        count: try row.int("count")
                    )
                )
                let (from, to) = (try row.optionalTime("first_at"), try row.optionalTime("last_at"))
                report.firstAt = [report.firstAt, from].compactMap(\.self).min()
                report.lastAt = [report.lastAt, to].compactMap(\.self).max()
            }
            return .report(report)
        }
    }
}
