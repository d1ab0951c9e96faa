package import Model
package import PostgresClient

/// Stores the hash of a phone's code unless a limit is reached. Returns whether it was stored.
package struct PutVerification: StoreWrite {
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

    private static let sql = StoreSQL.function("put_verification", 8, columns: "put_verification AS permitted")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .string(phone),
            .string(codeHash),
            .interval(limits.resendAfter),
            .int32(Int32(clamping: limits.perHour)),
            .time(at)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { try result.only().bool("permitted") }
}

/// How often a phone may be verified.
package struct VerificationLimits: Sendable, Hashable {
    package var validFor: Duration
    package var maximumTries: Int
    package var resendAfter: Duration
    package var perHour: Int

    package init(
        validFor: Duration = .seconds(180),
        maximumTries: Int = 5,
        resendAfter: Duration = .seconds(30),
        perHour: Int = 5
    ) {
        self.validFor = validFor
        self.maximumTries = maximumTries
        self.resendAfter = resendAfter
        self.perHour = perHour
    }
}
