package import FoundationEssentials
package import Model

/// One call and its answer, masked.
package struct CapturedExchange: Sendable, Hashable {
    /// How the gateway handled the call.
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// The call matched a route and was carried out.
        case known
        /// The call matched a route and was refused for the given reason.
        case refused
        /// The call matched no route of the vendor.
        case unknown
    }

    /// 1, 2, 3 … within its capture. The store assigns it.
    package var sequence: Int
    package var at: Timestamp
    package var route: String
    package var outcome: Outcome
    package var reason: String?
    package var request: Request
    package var answer: Answer

    package init(
        sequence: Int = 0,
        at: Timestamp,
        route: String,
        outcome: Outcome,
        reason: String?,
        request: Request,
        answer: Answer
    ) {
        self.sequence = sequence
        self.at = at
        self.route = route
        self.outcome = outcome
        self.reason = reason
        self.request = request
        self.answer = answer
    }

    /// The captured call.
    package struct Request: Sendable, Hashable {
        package var method: String
        package var path: String
        package var query: String?
        /// The names in order. Only a few headers keep their values; the others are null.
        package var headers: JSON
        package var body: String
        /// The size of the whole body as it was received.
        package var bodyBytes: Int

        package init(method: String, path: String, query: String?, headers: JSON, body: String, bodyBytes: Int) {
            self.method = method
            self.path = path
            self.query = query
            self.headers = headers
            self.body = body
            self.bodyBytes = bodyBytes
        }
    }

    /// The answer to the call.
    package struct Answer: Sendable, Hashable {
        package var status: Int
        package var contentType: String?
        package var body: String
        /// The size of the whole body as it was sent.
        package var bodyBytes: Int

        package init(status: Int, contentType: String?, body: String, bodyBytes: Int) {
            self.status = status
            self.contentType = contentType
            self.body = body
            self.bodyBytes = bodyBytes
        }
    }
}

/// A running capture, with the data that a node needs.
package struct RunningCapture: Sendable, Hashable {
    /// A key of a binding that leads to the captured app.
    package struct Key: Sendable, Hashable {
        package var value: String
        /// Nil: any host.
        package var host: String?

        package init(value: String, host: String? = nil) {
            self.value = value
            self.host = host
        }
    }

    package var tenant: TenantID
    package var id: UUID
    package var app: AppID
    package var vendor: Vendor
    package var keepsTexts: Bool
    package var bodyLimit: Int
    package var endsAt: Timestamp
    package var keys: [Key]
    /// Whether no other app of any tenant has a binding of this dialect. A call without a known key is then captured here.
    package var isSole: Bool

    package init(
        tenant: TenantID,
        id: UUID,
        app: AppID,
        vendor: Vendor,
        keepsTexts: Bool = false,
        bodyLimit: Int = 16 << 10,
        endsAt: Timestamp,
        keys: [Key] = [],
        isSole: Bool = false
    ) {
        self.tenant = tenant
        self.id = id
        self.app = app
        self.vendor = vendor
        self.keepsTexts = keepsTexts
        self.bodyLimit = bodyLimit
        self.endsAt = endsAt
        self.keys = keys
        self.isSole = isSole
    }
}
