package import Model
package import PostgresClient

/// Counts an attempt to verify a phone's code. A match uses up the code. Returns whether the code matched within the limits.
package struct CheckVerification: StoreWrite {
    let scope: AppScope
    let phone: String
    let codeHash: String
    let limits: VerificationLimits
    let at: Timestamp

    package init(_ scope: AppScope, phone: String, codeHash: String, limits: VerificationLimits, at: Timestamp) {
        self.scope = scope
        self.phone = phone
        self.codeHash = codeHash
        self.limits = limits
        self.at = at
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("check_verification", 8, columns: "check_verification AS permitted")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .string(phone),
            .string(codeHash),
            .interval(limits.validFor),
            .int32(Int32(clamping: limits.maximumTries)),
            .time(at)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { try result.only().bool("permitted") }
}
