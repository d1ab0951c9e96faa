import FoundationEssentials
import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// The vendor's hub as an upstream, with the documented key (docs/contracts/notificationhubs.md#3.3). Its calls are read by the adapter again.
enum OldHub {
    static let host = "gw.example.com"
    static let upstream = UpstreamSettings(
        vendor: .notificationHubs,
        secrets: ["key": Mount.fullKey],
        values: ["hub": "hub1", "keyName": "DefaultFullSharedAccessSignature"]
    )

    /// A target of an installation, of a registration (`r/…`) or of a template of one of them.
    static func target(
        _ key: String = InstallationTests.id,
        token: String? = nil,
        state: TokenState = .active,
        platform: Platform = .ios,
        variant: String? = nil,
        variables: JSONObject = JSONObject()
    ) -> TargetFacts {
        var facts = TargetFacts(
            target: TargetID(rawValue: UUID()),
            identity: IdentityID(UUID()),
            device: nil,
            app: "shop",
            vendor: .notificationHubs,
            key: VendorDeviceKey(key),
            destination: PushDestination(
                platform: platform,
                environment: .production,
                token: token.flatMap { DeviceToken(apns: $0) },
                tokenState: state
            )
        )
        facts.variant = variant
        facts.variables = variables
        return facts
    }

    static func token(_ number: Int) -> String { String(repeating: "ab", count: 29) + String(100_000 + number) }

    static func submission(_ request: VendorRequest) throws -> Submission {
        guard case .submission(.submit(let submission)) = try Mount.command(request) else {
            throw AdapterError(.notFound)
        }
        return submission
    }

    static func notification(_ submission: Submission, origin: Vendor = .notificationHubs) -> Notification {
        Notification(
            message: Mount.message,
            origin: origin,
            content: submission.content,
            sentAt: Mount.now,
            collapseID: submission.collapseID,
            numbers: [.notificationHubs: "1"]
        )
    }

    static func calls(_ notification: Notification, _ targets: [TargetFacts]) throws -> [UpstreamCall] {
        try Mount.adapter.outbound(
            notification,
            to: targets,
            through: upstream,
            settings: Mount.settings,
            at: Mount.now
        )
    }

    /// The call as it leaves, and arrives at a hub that has the key.
    static func arriving(_ request: VendorRequest) throws -> VendorRequest {
        var request = try #require(Mount.adapter.prepare(request, for: upstream, host: host, at: Mount.now))
        if let name = HTTPField.Name("Host") { request.headers[name] = host }
        return request
    }

    static func header(_ name: String, of request: VendorRequest) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }
    }

    /// A documented response.
    static func response(_ name: String) throws -> VendorResponse {
        let message = try Fixture.message(name)
        var headers = HTTPFields()
        for (name, value) in message.headers { if let name = HTTPField.Name(name) { headers[name] = value } }
        let status = Int(message.line.split(separator: " ")[1]) ?? 0
        return VendorResponse(status: status, headers: headers, body: Array(message.body.utf8))
    }
}
