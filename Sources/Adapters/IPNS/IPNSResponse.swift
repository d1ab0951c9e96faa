import HTTPTypes
import Model

/// The answer to one call (docs/contracts/ipns.md#2.4). The pair of result and text appears under two names, because the name that the library reads is
/// unknown; the answer to a successful send has it once (docs/contracts/ipns.md#2.11).
struct IPNSResponse {
    /// Nil for an unknown call.
    let operation: IPNSCall?
    /// The fields of the call. Nil if it cannot be read.
    let fields: IPNSFields?

    /// The answer to the replies of the commands; the first refusal determines it.
    func answer(_ replies: [Reply]) -> VendorResponse {
        for reply in replies {
            if case .refused(let refusal) = reply { return Self.failure(IPNSError(refusal)) }
        }
        switch (operation, replies.first) {
        case (.recvReport, .receipt), (.readReport, .receipt), (.updateConfig, .preference(.preferencesSet)):
            return Self.done
        default:
            return body(replies).map { Self.json(.object($0)) }
                ?? Self.failure(IPNSError(.unavailable(retryAfter: nil)))
        }
    }

    /// The answer without data. Its bytes are constant, because it answers the most frequent calls of apps.
    private static let done = json(.object(success([])))

    static func failure(_ error: IPNSError) -> VendorResponse {
        json(.object(head(error.code, error.text)), status: error.status)
    }

    /// Nil for replies that do not belong to this call, which would be a bug of the gateway.
    private func body(_ replies: [Reply]) -> JSONObject? {
        switch (operation, replies.first) {
        case (.appRegist, .registration(.registered(let device))):
            guard let accepts = accepts(replies.last) else { return nil }
            return Self.success([("DEVICE_ID", .string(device.key.rawValue)), ("PUSH_YN", Self.flag(accepts))])
        case (.getConfig, .preference(.preferences(let preferences))): return Self.config(preferences)
        case (.getMsgs, .inbox(.history(let entries))):
            return Self.success([("COUNT", .int(entries.count)), ("LIST", .array(entries.map(Self.item)))])
        case (.getMsgDetail, .inbox(.message(let entry))): return Self.success([("ITEM", Self.item(entry))])
        case (.polling, .inbox(.polled(let entries, let remaining))):
            return Self.success([("REMAIN", .int(remaining)), ("LIST", .array(entries.map(Self.item)))])
        case (.send, .submission(.addressed(let sent))): return Self.accepted(sent)
        default: return nil  // every other pair is a bug of the gateway
        }
    }

    /// Whether a registered device accepts pushes: what the call has set, otherwise what it has read.
    private func accepts(_ reply: Reply?) -> Bool? {
        switch reply {
        case .preference(.preferencesSet): (try? fields?.flag(.pushYN)).flatMap(\.self)
        case .preference(.preferences(let preferences)): preferences.acceptsPush
        default: nil  // another reply would be a bug of the gateway
        }
    }

    private static func config(_ preferences: DevicePreferences) -> JSONObject {
        success([
            ("PUSH_YN", flag(preferences.acceptsPush)),
            ("START_TIME", .string(DailyWindow.text(preferences.window?.from ?? 0))),
            ("END_TIME", .string(DailyWindow.text(preferences.window?.to ?? 1439))),
            ("CP_USER_ID", .string((preferences.alias ?? preferences.user)?.rawValue ?? "")),
        ])
    }

    /// An entry of a list (docs/contracts/ipns.md#2.9).
    private static func item(_ entry: InboxEntry) -> JSON {
        let notification = entry.notification
        return .pairs([
            "REQ_ID": .string(notification.number(for: .ipns)),
            "TITLE": .string(notification.content.title ?? ""),
            "ALERT": .string(IPNSPayload.alert(of: notification.content)),
            "MESSAGE": .string(IPNSPayload.message(of: notification)),
            "SEND_DATE": .string(WireTime.text(notification.sentAt)),
            "RECV_YN": flag(entry.receivedAt != nil),
            "READ_YN": flag(entry.readAt != nil),
            "USER_CN": .string(entry.user?.rawValue ?? ""),
        ])
    }

    /// The answer to an accepted send (docs/contracts/ipns.md#2.11).
    private static func accepted(_ sent: AddressedSubmission) -> JSONObject {
        let unknown = sent.unknown.map { address -> JSON in
            switch address {
            case .phone(let text): .string(text)
            case .deviceKey(let key): .string(key.rawValue)
            case .user(let user): .string(user.rawValue)
            case .device(let device): .string(device.description)
            }
        }
        return JSONObject([
            ("RT", .string(IPNSCode.success.rawValue)), ("RT_MSG", "SUCCESS"),
            ("MESSAGE_ID", .string(sent.number ?? sent.message.description)),
            ("ACCEPTED", .int(sent.addressees ?? 0)), ("NOT_FOUND", .array(unknown)),
        ])
    }

    /// The fields of every successful answer.
    private static let succeeded: JSONObject = {
        var body = head(.success, "SUCCESS")
        body["error"] = ""
        return body
    }()

    private static func success(_ rest: [(String, JSON)]) -> JSONObject {
        var body = succeeded
        for (key, value) in rest { body[key] = value }
        return body
    }

    private static func head(_ code: IPNSCode, _ text: String) -> JSONObject {
        JSONObject([
            ("RT", .string(code.rawValue)), ("RT_MSG", .string(text)), ("rtCode", .string(code.rawValue)),
            ("error", .string(text)),
        ])
    }

    private static func flag(_ flag: Bool) -> JSON { flag ? "Y" : "N" }

    private static func json(_ value: JSON, status: Int = 200) -> VendorResponse {
        var headers = HTTPFields()
        headers[.contentType] = "application/json; charset=UTF-8"
        return VendorResponse(status: status, headers: headers, body: JSONWriter.bytes(value))
    }
}
