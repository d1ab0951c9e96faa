package import Model

/// A binding's settings in this dialect, read once per call; a value that makes no sense leaves the default.
///
/// Source of keys and defaults: docs/contracts/rationalowl.md#15. Provisioning calls `problems(in:)`, so that a wrong key stops it instead of being ignored.
package struct RationalOwlSettings: Sendable, Hashable {
    /// Which generation's field names are answered.
    package enum Profile: String, Sendable, CaseIterable {
        /// By platform and the shape of the request (docs/contracts/rationalowl.md#2.1).
        case auto
        /// The vendor document of 2023: `as`, `c`, and `cId` 303 in `msgInfo`.
        case doc2023
        /// The vendor document of 2025: `ase`, `cmt`.
        case doc2025
        /// Both spellings, always.
        case both
    }

    /// What `installApp` answers for a device that is registered already.
    package enum AlreadyCode: Sendable, Hashable {
        case fixed(ResultCode)
        /// -301 for iOS, -202 for Android: what the demo apps wait for.
        case byPlatform

        func code(for platform: Platform) -> ResultCode {
            switch (self, platform) {
            case (.fixed(let code), _): code
            case (.byPlatform, .ios): .userAlreadyRegistered
            case (.byPlatform, .android): .accountAlreadyRegistered
            }
        }
    }

    package var profile: Profile = .auto
    /// Nil: 312, or 303 under `doc2023`.
    package var msgInfoCommandID: Int?
    package var alreadyCode: AlreadyCode = .fixed(.clientAlreadyRegistered)
    package var isServiceIDStrict = false
    package var androidCommentKey = "cmt"
    /// How long after it is due a push may still be delivered. Default 72 h (the core's queuing period).
    package var timeToLive: Duration = .seconds(72 * 3600)
    /// Reservation strings are local times of this zone.
    package var timeZone = "Asia/Seoul"
    /// The server's identity that an app stores; nil: made of the account id.
    package var serverRegistrationID: String?
    package var accountID: String?
    package var serviceID: String?
    /// `host:port` of the core's channel server; nil: the host that was called.
    package var channelServer: String?
    package var privateChannelServer: String?
    /// Approved sending numbers, digits only; nil: any.
    package var sendingNumbers: Set<String>?

    package init(_ binding: BindingSettings) {
        // Most bindings have none, and a look-up by dotted path costs more than the rest of a short call.
        if binding.values.isEmpty { return }
        profile = binding["compat.profile"]?.string.flatMap(Profile.init(rawValue:)) ?? profile
        msgInfoCommandID = binding["compat.msgInfoCid"].flatMap(Self.msgInfoCommandID)
        alreadyCode = binding["installApp.alreadyCode"].flatMap(Self.alreadyCode) ?? alreadyCode
        isServiceIDStrict = binding["installApp.strictServiceId"]?.bool ?? isServiceIDStrict
        androidCommentKey = binding["verify.commentKeyAndroid"].flatMap(Self.commentKey) ?? androidCommentKey
        timeToLive = binding["push.ttlHours"].flatMap(Self.hours) ?? timeToLive
        timeZone = binding["timezone"]?.string.flatMap { ReservationTime.isZone($0) ? $0 : nil } ?? timeZone
        serverRegistrationID = binding["usRid"].flatMap(Self.text)
        accountID = binding["accountId"].flatMap(Self.text)
        serviceID = binding["serviceId"].flatMap(Self.text)
        channelServer = binding["channelServer"].flatMap(Self.text)
        privateChannelServer = binding["privateChannelServer"].flatMap(Self.text)
        sendingNumbers = binding["fallback.sendingNumbers"].flatMap(Self.numbers)
    }

    /// One value per account that an app may store, never empty for a known account (docs/contracts/rationalowl.md#5.1).
    ///
    /// Assumed: `SVR` and the account id, in the shape of the app-server ids seen in public configurations. A test account would show the vendor's.
    func serverRegistrationID(account: String) -> String {
        serverRegistrationID ?? "SVR\(account)"
    }

    func msgInfoCommandID(default id: Int) -> Int {
        msgInfoCommandID ?? (profile == .doc2023 ? 303 : id)
    }
}

/// The settings that a payload reads, apart from the others because there is one payload for each push.
struct PayloadSettings {
    /// `notiTitle` and `notiBody` in addition to `title` and `body`: one generation's extension requires them (docs/contracts/rationalowl.md#6.1).
    var duplicatesNotiKeys = true
    var urgentIsTimeSensitive = false

    init(_ binding: BindingSettings) {
        if binding.values.isEmpty { return }
        duplicatesNotiKeys = binding["push.duplicateNotiKeys"]?.bool ?? duplicatesNotiKeys
        urgentIsTimeSensitive = binding["push.timeSensitive"]?.bool ?? urgentIsTimeSensitive
    }
}

extension RationalOwlSettings {
    /// What is wrong with `values`, one sentence each, for the operator who provisions them; empty when all is well.
    package static func problems(in values: JSONObject) -> [String] {
        leaves(of: values, below: "").compactMap { key, value in
            guard let accepts = rules[key] else { return "\(key): unknown setting" }
            return accepts(value) ? nil : "\(key): not an accepted value"
        }
    }

    /// Every key that has an effect, and what it accepts. Those of `auth` are read by the commands, and are settings of this binding all the same. A key of
    /// docs/contracts/rationalowl.md#15 whose feature does not exist yet is unknown: accepting it would promise the feature.
    private static let rules: [String: @Sendable (JSON) -> Bool] = [
        "compat.profile": { $0.string.flatMap(Profile.init(rawValue:)) != nil },
        "compat.msgInfoCid": { msgInfoCommandID($0) != nil },
        "installApp.alreadyCode": { alreadyCode($0) != nil },
        "installApp.strictServiceId": { $0.bool != nil },
        "verify.commentKeyAndroid": { commentKey($0) != nil },
        "auth.ttl": { isInteger($0, in: 1...86_400) },
        "auth.maxTries": { isInteger($0, in: 1...20) },
        "auth.testCodes": { isCodes($0) },
        "push.ttlHours": { hours($0) != nil },
        "push.duplicateNotiKeys": { $0.bool != nil },
        "push.timeSensitive": { $0.bool != nil },
        "timezone": { $0.string.map(ReservationTime.isZone) ?? false },
        "usRid": { text($0) != nil },
        "accountId": { text($0) != nil },
        "serviceId": { text($0) != nil },
        "channelServer": { text($0) != nil },
        "privateChannelServer": { text($0) != nil },
        "fallback.sendingNumbers": { numbers($0) != nil },
    ]

    private static func isInteger(_ value: JSON, in range: ClosedRange<Int64>) -> Bool {
        value.lenientInt.map(range.contains) ?? false
    }

    /// Phone numbers with the fixed code of each, for tests and for app reviewers.
    private static func isCodes(_ value: JSON) -> Bool {
        value.object?.pairs.allSatisfy { phone, code in
            PhoneNumber(phone)?.digits == phone
                && (code.lenientString.map { (1...16).contains($0.utf8.count) } ?? false)
        } ?? false
    }

    /// The values at dotted paths, however they are nested.
    private static func leaves(of object: JSONObject, below path: String) -> [(String, JSON)] {
        object.pairs.flatMap { key, value -> [(String, JSON)] in
            if rules[path + key] == nil, case .object(let inner) = value {
                return leaves(of: inner, below: path + key + ".")
            }
            return [(path + key, value)]
        }
    }

    /// G1 apps decode `cId` into a closed set, so only the two documented values are accepted (docs/contracts/rationalowl.md#14).
    private static func msgInfoCommandID(_ value: JSON) -> Int? {
        value.lenientInt.flatMap { [303, 312].contains($0) ? Int($0) : nil }
    }

    /// A code, `auto`, or one of the presets `documented`, `demo`, `hello` (docs/contracts/rationalowl.md#5.1).
    private static func alreadyCode(_ value: JSON) -> AlreadyCode? {
        switch value.lenientString {
        case "documented", "-102": .fixed(.clientAlreadyRegistered)
        case "UMS demo app", "demo", "auto": .byPlatform
        case "hello app", "hello", "1": .fixed(.ok)
        case "-301": .fixed(.userAlreadyRegistered)
        case "-202": .fixed(.accountAlreadyRegistered)
        case .some, .none: nil
        }
    }

    private static func commentKey(_ value: JSON) -> String? {
        value.string.flatMap { ["cmt", "c"].contains($0) ? $0 : nil }
    }

    /// 1 hour…28 days, the longest that the gateway keeps a push; the vendor's dedicated edition has 30 days (docs/contracts/rationalowl.md#6.6).
    private static func hours(_ value: JSON) -> Duration? {
        value.lenientInt.flatMap { (1...672).contains($0) ? .seconds($0 * 3600) : nil }
    }

    private static func text(_ value: JSON) -> String? {
        value.lenientString.flatMap { $0.isEmpty || $0.utf8.count > RationalOwlLimits.identifierBytes ? nil : $0 }
    }

    private static func numbers(_ value: JSON) -> Set<String>? {
        guard let numbers = value.array?.map({ $0.lenientString.flatMap(PhoneNumber.init)?.digits }) else { return nil }
        return numbers.contains(nil) ? nil : Set(numbers.compactMap(\.self))
    }
}
