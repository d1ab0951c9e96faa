import Foundation

/// The rule table from a client's view: the sent push, and the status and reason that the document expects (docs/contracts/apns.md#9,
/// docs/simulator.md#rules).
///
/// Written from the document. `push` changes a valid push; `headers` does the same for nghttp, and is nil if aioapns can send the push.
struct RuleTableRow: Sendable, CustomStringConvertible {
    var row: Int
    var what: String
    var status: Int
    var reason: String?

    /// For aioapns: fields in place of those of a valid push; nil if aioapns cannot send this push.
    var push: [String: String]?

    /// For aioapns: the name of the credential.
    var credential = "team"

    /// For aioapns: the number of times that the push is sent over the connection. The last answer counts.
    var times = 1

    /// For nghttp: headers in place of those of a valid push; nil if nghttp is not used. "" removes a header.
    var headers: [String: String]?

    /// For nghttp: additional headers.
    var extra: [String] = []

    /// For nghttp: another path, and the length of the body.
    var path: String?
    var bodyBytes: Int?

    var description: String { "row \(row): \(what)" }

    static let token = RuleBench.token
    static let app = "com.example.shop"

    static let all: [RuleTableRow] = [
        .init(row: 29, what: "a valid push", status: 200, push: [:], headers: [:]),
        .init(row: 29, what: "a push over a certificate", status: 200, push: [:], credential: "certificate"),
        .init(
            row: 2,
            what: "an expired certificate",
            status: 403,
            reason: "BadCertificate",
            push: [:],
            credential: "expired"
        ),
        .init(
            row: 2,
            what: "an unknown certificate",
            status: 403,
            reason: "BadCertificate",
            push: [:],
            credential: "stranger"
        ),
        .init(
            row: 5,
            what: "a header twice",
            status: 400,
            reason: "DuplicateHeaders",
            headers: [:],
            extra: ["apns-topic: \(app)"]
        ),
        .init(row: 6, what: "PUT", status: 405, reason: "MethodNotAllowed", headers: [":method": "PUT"]),
        .init(
            row: 7,
            what: "no device token",
            status: 400,
            reason: "MissingDeviceToken",
            push: ["token": ""],
            headers: [:],
            path: "/3/device/"
        ),
        .init(
            row: 7,
            what: "another path",
            status: 404,
            reason: "BadPath",
            push: ["token": "ab/cd"],
            headers: [:],
            path: "/3/devices/ab"
        ),
        .init(row: 8, what: "an id other than a UUID", status: 400, reason: "BadMessageId", headers: ["apns-id": "7"]),
        .init(
            row: 9,
            what: "no provider token",
            status: 403,
            reason: "MissingProviderToken",
            headers: ["authorization": ""]
        ),
        .init(
            row: 10,
            what: "an unknown signature",
            status: 403,
            reason: "InvalidProviderToken",
            push: [:],
            credential: "forged",
            headers: ["authorization": "bearer a.b.c"]
        ),
        .init(
            row: 10,
            what: "an unknown key id",
            status: 403,
            reason: "InvalidProviderToken",
            push: [:],
            credential: "unknown"
        ),
        .init(
            row: 10,
            what: "another team's key",
            status: 403,
            reason: "InvalidProviderToken",
            push: [:],
            credential: "otherTeam"
        ),
        .init(
            row: 11,
            what: "a key of the other environment",
            status: 403,
            reason: "BadEnvironmentKeyIdInToken",
            push: [:],
            credential: "sandbox"
        ),
        .init(row: 12, what: "a revoked key", status: 403, reason: "Forbidden", push: [:], credential: "revoked"),
        .init(
            row: 14,
            what: "a second token at once",
            status: 429,
            reason: "TooManyProviderTokenUpdates",
            push: [:],
            credential: "hasty",
            times: 2
        ),
        .init(row: 15, what: "no topic", status: 400, reason: "MissingTopic", headers: ["apns-topic": ""]),
        .init(
            row: 16,
            what: "a topic without its suffix",
            status: 400,
            reason: "BadTopic",
            push: ["type": "voip"],
            headers: ["apns-push-type": "voip"]
        ),
        .init(
            row: 17,
            what: "a topic that the key does not allow",
            status: 400,
            reason: "TopicDisallowed",
            push: [:],
            credential: "topical"
        ),
        .init(
            row: 17,
            what: "a topic that the certificate does not list",
            status: 400,
            reason: "TopicDisallowed",
            push: [:],
            credential: "otherCertificate"
        ),
        .init(
            row: 18,
            what: "an unknown push type",
            status: 400,
            reason: "InvalidPushType",
            push: ["type": "silent"],
            headers: ["apns-push-type": "silent"]
        ),
        .init(
            row: 19,
            what: "priority 7",
            status: 400,
            reason: "BadPriority",
            push: ["priority": "7"],
            headers: ["apns-priority": "7"]
        ),
        .init(
            row: 19,
            what: "background at priority 10",
            status: 400,
            reason: "BadPriority",
            push: ["type": "background"],
            headers: ["apns-push-type": "background", "apns-priority": "10"]
        ),
        .init(
            row: 20,
            what: "an expiration before 1970",
            status: 400,
            reason: "BadExpirationDate",
            push: ["ttl": "-9000000000"],
            headers: ["apns-expiration": "soon"]
        ),
        .init(
            row: 21,
            what: "a long collapse id",
            status: 400,
            reason: "BadCollapseId",
            push: ["collapse": String(repeating: "a", count: 65)],
            headers: ["apns-collapse-id": String(repeating: "a", count: 65)]
        ),
        .init(
            row: 22,
            what: "a token that is not hexadecimal",
            status: 400,
            reason: "BadDeviceToken",
            push: ["token": "xyz1"],
            headers: [:],
            path: "/3/device/xyz1"
        ),
        .init(
            row: 22,
            what: "a token of the other environment",
            status: 400,
            reason: "BadDeviceToken",
            push: ["token": "22"],
            headers: [:],
            path: "/3/device/22"
        ),
        .init(
            row: 23,
            what: "a token of another app",
            status: 400,
            reason: "DeviceTokenNotForTopic",
            push: ["token": "23"],
            headers: [:],
            path: "/3/device/23"
        ),
        .init(
            row: 24,
            what: "a token that is unregistered",
            status: 410,
            reason: "Unregistered",
            push: ["token": "24"],
            headers: [:],
            path: "/3/device/24"
        ),
        .init(
            row: 24,
            what: "a token that has expired",
            status: 410,
            reason: "ExpiredToken",
            push: ["token": "2424"],
            headers: [:],
            path: "/3/device/2424"
        ),
        .init(row: 25, what: "no body", status: 400, reason: "PayloadEmpty", headers: [:], bodyBytes: 0),
        .init(
            row: 26,
            what: "4097 bytes",
            status: 413,
            reason: "PayloadTooLarge",
            push: ["bytes": "4097", "token": "2601"],
            headers: [:],
            bodyBytes: 4097
        ),
        .init(
            row: 26,
            what: "4096 bytes",
            status: 200,
            push: ["bytes": "4096", "token": "2602"],
            headers: [:],
            bodyBytes: 4096
        ),
        .init(
            row: 26,
            what: "5120 bytes for VoIP",
            status: 200,
            push: ["bytes": "5120", "token": "2603", "type": "voip"],
            credential: "voip",
            headers: ["apns-push-type": "voip", "apns-topic": app + ".voip"],
            bodyBytes: 5120
        ),
        .init(
            row: 26,
            what: "5121 bytes for VoIP",
            status: 413,
            reason: "PayloadTooLarge",
            push: ["bytes": "5121", "token": "2604", "type": "voip"],
            credential: "voip",
            headers: ["apns-push-type": "voip", "apns-topic": app + ".voip"],
            bodyBytes: 5121
        ),
        .init(
            row: 27,
            what: "aps of a wrong type: accepted, with a finding",
            status: 200,
            push: ["alert": "5", "token": "27"]
        ),
        .init(
            row: 28,
            what: "too many pushes to one token",
            status: 429,
            reason: "TooManyRequests",
            push: ["token": "28"],
            times: 8
        ),
        .init(
            row: 35,
            what: "an internal server error",
            status: 500,
            reason: "InternalServerError",
            push: ["token": "35"],
            headers: [:],
            path: "/3/device/35"
        ),
        .init(
            row: 35,
            what: "an overloaded server",
            status: 503,
            reason: "ServiceUnavailable",
            push: ["token": "3535"],
            headers: [:],
            path: "/3/device/3535"
        ),
        .init(
            row: 40,
            what: "a broadcast of an app without channels",
            status: 400,
            reason: "FeatureNotEnabled",
            headers: [:],
            path: "/4/broadcasts/apps/com.example.other"
        ),
        .init(
            row: 41,
            what: "a broadcast to a topic",
            status: 400,
            reason: "TopicDisallowed",
            headers: [:],
            path: "/4/broadcasts/apps/\(app).voip"
        ),
        .init(
            row: 43,
            what: "a broadcast without a push type",
            status: 400,
            reason: "MissingPushType",
            headers: ["apns-push-type": ""],
            path: "/4/broadcasts/apps/\(app)"
        ),
        .init(
            row: 43,
            what: "a broadcast of another push type",
            status: 400,
            reason: "InvalidPushType",
            headers: [:],
            path: "/4/broadcasts/apps/\(app)"
        ),
        .init(
            row: 44,
            what: "a broadcast without a channel",
            status: 400,
            reason: "MissingChannelId",
            headers: ["apns-push-type": "liveactivity"],
            path: "/4/broadcasts/apps/\(app)"
        ),
        .init(
            row: 45,
            what: "a broadcast to an invalid channel id",
            status: 400,
            reason: "BadChannelId",
            headers: ["apns-push-type": "liveactivity", "apns-channel-id": "*"],
            path: "/4/broadcasts/apps/\(app)"
        ),
        .init(
            row: 46,
            what: "a broadcast to an unknown channel",
            status: 400,
            reason: "ChannelNotRegistered",
            headers: ["apns-push-type": "liveactivity", "apns-channel-id": "AAAA"],
            path: "/4/broadcasts/apps/\(app)"
        ),
    ]
}
