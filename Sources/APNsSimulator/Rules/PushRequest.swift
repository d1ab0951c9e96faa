/// One request as it came over the wire, reduced to what the rules look at.
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

    /// `apns-id`, a UUID if the client does as it should.
    package var apnsID: String?

    /// `apns-expiration`, seconds since 1970 in text.
    package var expiration: String?

    /// `apns-priority`.
    package var priority: String?

    /// `apns-collapse-id`.
    package var collapseID: String?

    /// `apns-channel-id`: broadcasts and channel management.
    package var channelID: String?

    /// `apns-request-id`: broadcasts and channel management, in place of `apns-id`.
    package var requestID: String?

    /// The first header name that came twice.
    package var repeatedHeader: String?

    /// The body; bytes above `RuleBook.longestPayloadBytes` are counted in `bodyBytes` but need not be here.
    package var body: [UInt8] = []

    /// How many body bytes came.
    package var bodyBytes = 0

    private var otherNames: [String] = []

    /// A request with this body; headers are taken in one by one.
    package init(body: [UInt8] = [], bodyBytes: Int = 0) {
        self.body = body
        self.bodyBytes = bodyBytes
    }

    /// Takes in one header field.
    ///
    /// `set-cookie`-like repetition has no meaning here: any name that comes twice is remembered (rule 5).
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
