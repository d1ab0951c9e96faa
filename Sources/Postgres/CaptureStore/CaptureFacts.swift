package import FoundationEssentials
package import Model

/// The limits of a capture. The schema has the same limits (`tables/captures.sql`).
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
    /// Whether titles and bodies of messages are stored unmasked.
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
    /// The app does not exist or has no binding of the dialect.
    case missing
    /// A capture of this binding is running already.
    case running
    /// The tenant has reached its limit of captures.
    case tooMany
}

/// The state of a capture.
package struct CaptureFacts: Sendable, Hashable {
    package var id: UUID
    package var app: AppID
    package var vendor: Vendor
    package var startedAt: Timestamp
    /// The end of its duration, even if it has ended earlier.
    package var endsAt: Timestamp
    /// The time at which it ended early; nil otherwise.
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
