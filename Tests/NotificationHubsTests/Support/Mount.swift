import FoundationEssentials
import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// The parts of the gateway in front of the adapter, and the settings of a binding.
enum Mount {
    static let adapter = HubsAdapter()
    /// 2026-01-01 00:00 UTC.
    static let now = Timestamp(seconds: 1_767_225_600)
    static let fullKey = "ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc="
    static let listenKey = "bGlzdGVuLW9ubHkta2V5LWZvci10ZXN0cw=="

    /// The hash of the tutorial's image.
    static let image = String(repeating: "0f", count: 32)

    static let settings: BindingSettings = {
        let rules: JSONObject = [
            "DefaultFullSharedAccessSignature": ["listen", "send", "manage"],
            "DefaultListenSharedAccessSignature": ["listen"], "Sender": ["send"],
        ]
        var settings = BindingSettings(
            tenant: "acme",
            app: "shop",
            values: [
                "hubId": "hub1", "rules": .object(rules), "topic": "com.example.app",
                "appBackend": ["acceptsNames": true, "image": .string(image)],
            ]
        )
        settings.secrets = [
            "primary/DefaultFullSharedAccessSignature": Array(fullKey.utf8),
            "primary/DefaultListenSharedAccessSignature": Array(listenKey.utf8),
            "secondary/DefaultListenSharedAccessSignature": Array("the key that comes next".utf8),
            "primary/Sender": Array("only for sending, ever".utf8), "user/hong": Array("gildong".utf8),
        ]
        return settings
    }()

    static func request(
        _ method: HTTPRequest.Method,
        _ path: String,
        query: String? = nil,
        headers: [String: String] = [:],
        _ body: String = "",
        authorization: String? = Signer().header,
        host: String? = "gw.example.com",
        at time: Timestamp = now
    ) -> VendorRequest {
        var fields = HTTPFields()
        fields[.authorization] = authorization
        for (name, value) in headers.merging(host.map { ["Host": $0] } ?? [:], uniquingKeysWith: { $1 }) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return VendorRequest(
            route: "hubs",
            method: method,
            path: path,
            query: query,
            headers: fields,
            body: Array(body.utf8),
            receivedAt: time
        )
    }

    /// The main command of the call, which is the last one; preparing commands precede it.
    static func command(_ request: VendorRequest) throws -> Command {
        _ = try adapter.locate(request)
        return try #require(try adapter.decode(request, settings: settings).last)
    }

    /// The answer to a client if `reply` answers the commands.
    static func answer(_ request: VendorRequest, _ reply: (Command) -> Reply = { _ in .refused(.unknownBinding) })
        -> VendorResponse
    {
        do throws(AdapterError) {
            _ = try adapter.locate(request)
            var replies = try adapter.decode(request, settings: settings).map(reply)
            for _ in 0..<6 {
                let sequel = try adapter.sequel(to: replies, of: request, settings: settings)
                if sequel.isEmpty { break }
                replies = sequel.map(reply)
            }
            return adapter.encode(replies, for: request, settings: settings)
        } catch {
            return adapter.refuse(error, for: request, settings: settings)
        }
    }

    static func registered(_ key: VendorDeviceKey) -> Reply {
        .registration(
            .registered(
                Registered(
                    identity: IdentityID(UUID()),
                    device: DeviceID(UUID()),
                    key: key,
                    platform: .ios,
                    wasActive: false
                )
            )
        )
    }

    static let enlisted = Reply.registration(
        .enlisted(
            Registered(
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                key: "k",
                platform: .ios,
                wasActive: false
            ),
            AssignedUser(user: nil)
        )
    )

    /// A message that is due at `now`.
    static let message: MessageID = {
        var bytes = (0..<6).map { UInt8(truncatingIfNeeded: now.milliseconds >> Int64(40 - 8 * $0)) }
        bytes += [0x70, 1, 0x80, 2, 3, 4, 5, 6, 7, 8]
        return MessageID(rawValue: UUID(bytes: bytes) ?? UUID())
    }()

    /// The id of a schedule with this message (docs/contracts/notificationhubs.md#7.7).
    static let scheduleText = messageText.replacing("-", with: "_")

    /// The id of that message in this vendor's format.
    static let messageText = HexCoding.encode(message.rawValue.bytes) + "-20260101000000-1-1"
}

extension VendorResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    /// The text of an error's detail, before its tracking part.
    var detail: String? {
        guard let from = text.firstRange(of: "<Detail>"), let to = text.firstRange(of: ".TrackingId:") else {
            return nil
        }
        return String(text[from.upperBound..<to.lowerBound])
    }

    /// Compares the response with a documented answer: status, content type, and the body except for ids that are
    /// drawn per request.
    func fault(against name: String) throws -> String? {
        let message = try Fixture.message(name)
        let wanted = Int(message.line.split(separator: " ")[1])
        if status != wanted { return "status \(status), not \(wanted ?? 0)" }
        let type = message.headers.first { $0.0 == "Content-Type" }?.1
        if header("Content-Type") != type { return "content type \(header("Content-Type") ?? "none")" }
        let (own, documented) = (Self.withoutTracking(text), Self.withoutTracking(message.body))
        return own == documented ? nil : "\(own) is not \(documented)"
    }

    private static func withoutTracking(_ text: String) -> String {
        guard let from = text.firstRange(of: "TrackingId:") else { return text }
        guard let to = text.firstRange(of: "</Detail>") else { return text }
        return text[..<from.upperBound] + String(text[to.lowerBound...])
    }
}
