package import FoundationEssentials
package import Model
import PostgresClient
import Store

/// The limits of a capture. The schema has the same limits (`0022_capture.sql`).
package struct CaptureLimits: Sendable, Hashable {
    /// At most 24 hours, so that a forgotten capture does not record for ever. Default 15 minutes.
    package static let durations: ClosedRange<Duration> = .seconds(1) ... .seconds(86_400)
    /// At most 1,000 exchanges, because a person reads them. Default 200.
    package static let exchangeCounts = 1...1000
    /// At most 64 KiB of each body, after masking. Default 16 KiB.
    package static let bodySizes = 1...65_536
    /// At most 16 MiB, which with ten captures limits the space of a tenant in the database. Default 4 MiB.
    package static let totals = 1...(16 << 20)
    /// Ten captures per tenant, running or ended.
    package static let capturesPerTenant = 10

    package var duration: Duration
    package var exchangeCount: Int
    package var bodyBytes: Int
    package var totalBytes: Int

    package init(
        duration: Duration = .seconds(900),
        exchangeCount: Int = 200,
        bodyBytes: Int = 16 << 10,
        totalBytes: Int = 4 << 20
    ) {
        self.duration = min(max(duration, Self.durations.lowerBound), Self.durations.upperBound)
        self.exchangeCount = Self.clamp(exchangeCount, Self.exchangeCounts)
        self.bodyBytes = Self.clamp(bodyBytes, Self.bodySizes)
        self.totalBytes = Self.clamp(totalBytes, Self.totals)
    }

    private static func clamp(_ value: Int, _ range: ClosedRange<Int>) -> Int {
        min(max(value, range.lowerBound), range.upperBound)
    }
}

/// A request to capture the calls of one binding.
package struct CaptureOrder: Sendable, Hashable {
    package var app: AppID
    package var vendor: Vendor
    package var limits: CaptureLimits
    /// Whether titles and bodies of messages stay readable.
    package var keepsTexts: Bool

    package init(app: AppID, vendor: Vendor, limits: CaptureLimits = CaptureLimits(), keepsTexts: Bool = false) {
        self.app = app
        self.vendor = vendor
        self.limits = limits
        self.keepsTexts = keepsTexts
    }
}

/// The result of a request to start a capture.
package enum CaptureStart: Sendable, Hashable {
    case started(CaptureFacts)
    /// The app does not exist, or has no binding of the dialect.
    case missing
    /// A capture of this binding is running already.
    case running
    /// The tenant has the maximum number of captures.
    case tooMany
}

/// The current state of a capture.
package struct CaptureFacts: Sendable, Hashable {
    package var id: UUID
    package var app: AppID
    package var vendor: Vendor
    package var startedAt: Timestamp
    /// When its time is over, whether or not it ends earlier.
    package var endsAt: Timestamp
    /// When it ended early; nil otherwise.
    package var endedAt: Timestamp?
    /// `stopped` or `full`.
    package var endedBy: String?
    package var startedBy: String
    package var keepsTexts: Bool
    package var exchangeLimit: Int
    package var bodyLimit: Int
    package var byteLimit: Int
    package var exchangeCount: Int
    package var byteCount: Int
    package var isRunning: Bool
}

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
