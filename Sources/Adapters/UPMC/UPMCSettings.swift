package import Model

/// The server version that an app was built for: it determines the payload's keys and the meaning of `BADGENO` (docs/contracts/upmc.md#1.7).
package enum UPMCVersion: String, Sendable, CaseIterable, Comparable {
    case v3 = "3.0"
    case v35 = "3.5"
    case v36 = "3.6"
    case v37 = "3.7"
    case v38 = "3.8"
    case v4 = "4.0"
    case v4EE = "4.0EE"
    case v5 = "5.0"
    case v51 = "5.1"

    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    package static func < (left: Self, right: Self) -> Bool { left.place < right.place }

    /// Whether the server counts badges.
    var countsBadges: Bool { self >= .v4EE }
}

/// A binding's settings in this dialect, read once per call; a value that makes no sense leaves the default.
package struct UPMCSettings: Sendable, Hashable {
    /// How a message with title and body becomes an alert (docs/contracts/upmc.md#1.10.1).
    package enum AlertStyle: String, Sendable, CaseIterable {
        /// One text: title, a line break, body.
        case string
        /// `{"title", "body"}`.
        case dictionary
        /// `MESSAGE` as it came.
        case raw
    }

    package var applicationID = ""
    package var version: UPMCVersion = .v4EE
    /// Nil: by version, `dictionary` from 5.0 on.
    package var alertStyle: AlertStyle?
    /// Whether every payload says `mutable-content`.
    package var isMutable = false
    /// Whether calls of apps need an `AUTHKEY`.
    package var needsKey = false
    package var isSingleDevicePerUser = false
    /// Whether a `CUID` alone is enough to see that user's history.
    package var showsHistoryByUser = false
    package var decodesMessageTwice = true
    /// Where pages are fetched, without a trailing slash; nil: there are none.
    package var publicURL: String?

    package init(_ binding: BindingSettings) {
        applicationID = binding["applicationId"]?.lenientString ?? applicationID
        version = binding["version"]?.lenientString.flatMap(UPMCVersion.init(rawValue:)) ?? version
        alertStyle = binding["alertStyle"]?.string.flatMap(AlertStyle.init(rawValue:))
        isMutable = binding["mutableContent"].flatMap(Self.flag) ?? isMutable
        needsKey = binding["security.using"].flatMap(Self.flag) ?? needsKey
        isSingleDevicePerUser = binding["singleDevicePerUser"].flatMap(Self.flag) ?? isSingleDevicePerUser
        showsHistoryByUser = binding["history.cuidAlone"].flatMap(Self.flag) ?? showsHistoryByUser
        decodesMessageTwice = binding["doubleDecodeMessage"].flatMap(Self.flag) ?? decodesMessageTwice
        publicURL = binding["publicUrl"].flatMap(Self.url)
    }

    /// The secret's name among the binding's sealed ones.
    package static let secretName = "authKey"
    /// The name of what senders must show; without it sending is open to whoever knows the app's id.
    package static let sendSecretName = "sendKey"

    /// What is wrong with `values`, one sentence each, for the operator who provisions them; empty when all is well.
    package static func problems(in values: JSONObject, hasSecret: Bool) -> [String] {
        var found = leaves(of: values, below: "").compactMap { key, value -> String? in
            guard let accepts = rules[key] else { return "\(key): unknown setting" }
            return accepts(value) ? nil : "\(key): not an accepted value"
        }
        let isUsing = BindingSettings(values: values)["security.using"].flatMap(flag) ?? false
        if isUsing, !hasSecret { found.append("security.using: needs authKeySecretEnv or authKeySecretFile") }
        return found
    }

    private static let rules: [String: @Sendable (JSON) -> Bool] = [
        "version": { $0.lenientString.flatMap(UPMCVersion.init(rawValue:)) != nil },
        "alertStyle": { $0.string.flatMap(AlertStyle.init(rawValue:)) != nil },
        "mutableContent": { flag($0) != nil },
        "security.using": { flag($0) != nil },
        "singleDevicePerUser": { flag($0) != nil },
        "history.cuidAlone": { flag($0) != nil },
        "doubleDecodeMessage": { flag($0) != nil },
        "publicUrl": { url($0) != nil },
        "push.ttlHours": { value in value.lenientInt.map { (1...672).contains($0) } ?? false },
    ]

    private static func leaves(of object: JSONObject, below path: String) -> [(String, JSON)] {
        object.pairs.flatMap { key, value -> [(String, JSON)] in
            if rules[path + key] == nil, case .object(let inner) = value {
                return leaves(of: inner, below: path + key + ".")
            }
            return [(path + key, value)]
        }
    }

    /// True or false; `on` and `off` too, as YAML's readers disagree about them.
    private static func flag(_ value: JSON) -> Bool? {
        switch value {
        case .bool(let flag): flag
        case .string("on"), .string("true"): true
        case .string("off"), .string("false"): false
        case .string, .null, .number, .array, .object: nil
        }
    }

    private static func url(_ value: JSON) -> String? {
        guard var text = value.string, text.hasPrefix("https://") || text.hasPrefix("http://"),
            text.utf8.count <= 512, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C })
        else { return nil }
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }
}
