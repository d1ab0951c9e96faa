import HTTPTypes
import Model

/// Writes the calls by which the vendor's server sends a message to devices (docs/contracts/rationalowl.md#8.4).
///
/// The message leaves when it is due, so the calls have no reservation. Titles, texts, the urgent flag, the image and the fallback are those of the caller. The
/// names of the addressees (`un`) are not kept with a message, and the vendor only displays them. A template (`tId`) never becomes a message of the gateway.
/// Fields of other interfaces that the call cannot express are left out: subtitle, badge, sound, and the caller's own data.
struct RationalOwlSend {
    static let serverField = "serverRegId"
    static let addressField = "ip"

    private static let path = "/msgClient/msgClientSendMsgByDeviceId"

    private let notification: Notification
    private let server: String
    private let account: String
    private let address: String

    private var content: Content { notification.content }

    /// Nil if the credential has no back end of the vendor's, or the binding no account: the vendor then accepts no send.
    init?(_ notification: Notification, through upstream: UpstreamSettings, account: String?) {
        guard let server = upstream.secrets[Self.serverField], !server.isEmpty, let account else { return nil }
        self.notification = notification
        self.server = server
        self.account = account
        address = Self.address(of: upstream)
    }

    /// The address that the gateway's own calls state.
    ///
    /// Assumed: the field must be present, and the vendor looks at the address of the connection (docs/contracts/rationalowl.md#8.2).
    static func address(of upstream: UpstreamSettings) -> String {
        upstream.values[addressField]?.string ?? "0.0.0.0"
    }

    /// The calls to all targets that have a device key.
    ///
    /// - Throws: `AdapterError` naming the part of the message that the call cannot express.
    func calls(to targets: [TargetFacts], at time: Timestamp) throws(AdapterError) -> [UpstreamCall] {
        let addressed = TargetGroups(targets) { $0.key.rawValue }
        var frame = JSONObject([
            ("rId", .string(server)), ("aId", .string(account)), ("ip", .string(address)),
            ("msg", .object(try message())),
        ])
        frame["img"] = try image()
        // Only the side that pushes sends the fallback.
        frame["a"] = notification.origin == .rationalOwl ? notification.fallback : nil
        var calls: [UpstreamCall] = []
        for groups in addressed.calls(targets: RationalOwlLimits.targetCount) {
            let body = Self.body(frame, to: groups)
            guard body.count <= RationalOwlLimits.senderBodyBytes else {
                throw AdapterError(.tooLarge, field: frame["img"] == nil ? "msg" : "img.imgD")
            }
            calls.append(UpstreamCall(Self.request(.sendByDeviceID, Self.path, body, at: time), to: groups))
        }
        return calls
    }

    private static func body(_ frame: JSONObject, to groups: [TargetGroups.Group]) -> [UInt8] {
        var body = frame
        body["dest"] = .pairs(["t": 2, "tg": .array(groups.map { JSON.pairs(["dId": .string($0.name)]) })])
        return JSONWriter.bytes(.object(body))
    }

    /// A call of the gateway's own back end.
    static func request(
        _ call: RationalOwlCall,
        _ path: String,
        _ body: [UInt8],
        at time: Timestamp
    ) -> VendorRequest {
        var headers = HTTPFields()
        headers[.contentType] = "application/json; charset=utf-8"
        return VendorRequest(
            route: call.rawValue,
            path: path,
            headers: headers,
            body: body,
            receivedAt: time
        )
    }

    /// `msg`. A message without a text shows its title as the text, as its push does.
    private func message() throws(AdapterError) -> JSONObject {
        guard content.raw == nil else { throw AdapterError(.invalid, field: "raw") }
        guard !content.isSilent else { throw AdapterError(.invalid, field: "silent") }
        guard content.activity == nil else { throw AdapterError(.invalid, field: "activity") }
        let title = content.title ?? ""
        let body = content.body.isEmpty ? title : content.body
        guard !body.isEmpty else { throw AdapterError(.missing, field: "msg.body") }
        var message = JSONObject()
        if !title.isEmpty, !content.body.isEmpty { message["title"] = .string(try text(title, "msg.title")) }
        message["body"] = .string(try text(body, "msg.body"))
        // Assumed: the vendor reads the field that the gateway accepts; no field is documented (docs/contracts/rationalowl.md#8.3).
        if content.isUrgent { message["type"] = 2 }
        return message
    }

    private func text(_ text: String, _ field: String) throws(AdapterError) -> String {
        guard text.utf8.count <= RationalOwlLimits.textRawBytes,
            KoreanText.byteCount(text) <= RationalOwlLimits.textBytes
        else { throw AdapterError(.tooLarge, field: field) }
        return text
    }

    /// `img`. A message whose image is known by reference only cannot be sent: the vendor's app would show another message.
    private func image() throws(AdapterError) -> JSON? {
        guard let image = notification.image else {
            guard content.media == nil else { throw AdapterError(.missing, field: "img.imgD") }
            return nil
        }
        let isPNG = image.bytes.starts(with: [0x89, 0x50, 0x4E, 0x47])
        return .pairs([
            "imgN": .string(image.name ?? (isPNG ? "image.png" : "image.jpg")),
            "imgD": .string(Base64Image.encode(image.bytes)),
            "imgS": .int(image.bytes.count),
        ])
    }
}
