/// One received request, reduced to the values that the rules need.
package struct PushRequest: Sendable, Equatable {
    /// `:method`.
    package var method = "POST"

    /// `:path`.
    package var path = ""

    /// The value of `authorization`, as sent.
    package var authorization: String?

    /// `apns-topic`: the bundle identifier with the push type's suffix.
    package var topic: String?

    /// `apns-push-type`, known or not.
    package var pushType: String?

    /// `apns-id`; a UUID if the client is correct.
    package var apnsID: String?

    /// `apns-expiration`: seconds since 1970, as text.
    package var expiration: String?

    /// `apns-priority`.
    package var priority: String?

    /// `apns-collapse-id`.
    package var collapseID: String?

    /// `apns-channel-id`, for broadcasts and channel management.
    package var channelID: String?

    /// `apns-request-id`, for broadcasts and channel management, instead of `apns-id`.
    package var requestID: String?

    /// The first header name that occurs twice.
    package var repeatedHeader: String?

    /// The body; it may end at `RuleBook.longestPayloadBytes`, while `bodyBytes` counts all bytes.
    package var body: [UInt8] = []

    /// How many bytes the whole body has.
    package var bodyBytes = 0

    private var otherNames: [String] = []

    /// Creates a request with this body; headers are added one by one.
    package init(body: [UInt8] = [], bodyBytes: Int = 0) {
        self.body = body
        self.bodyBytes = bodyBytes
    }

    /// Adds one header field.
    ///
    /// No field may be repeated: any name that occurs twice is recorded (rule 5).
    package mutating func receive(name: String, value: String) {
        switch name {
        case ":method": method = value
        case ":path": path = value
        case ":scheme", ":authority": break
        case "authorization": set(\.authorization, name, value)
        case "apns-topic": set(\.topic, name, value)
        case "apns-push-type": set(\.pushType, name, value)
        case "apns-id": set(\.apnsID, name, value)
        case "apns-expiration": set(\.expiration, name, value)
        case "apns-priority": set(\.priority, name, value)
        case "apns-collapse-id": set(\.collapseID, name, value)
        case "apns-channel-id": set(\.channelID, name, value)
        case "apns-request-id": set(\.requestID, name, value)
        default:
            if otherNames.contains(name) {
                repeatedHeader = repeatedHeader ?? name
            } else {
                otherNames.append(name)
            }
        }
    }

    private mutating func set(_ field: WritableKeyPath<PushRequest, String?>, _ name: String, _ value: String) {
        if self[keyPath: field] == nil {
            self[keyPath: field] = value
        } else {
            repeatedHeader = repeatedHeader ?? name
        }
    }
}
