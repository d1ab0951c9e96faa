package import Model

/// The settings of a RationalOwl binding, read once per call; an invalid value leaves the default.
///
/// Source of keys and defaults: docs/contracts/rationalowl.md#15. Provisioning rejects values that `declared` does not accept.
package struct RationalOwlSettings: Sendable, Hashable {
    /// The client generation whose field names are used in answers.
    package enum Profile: String, Sendable, CaseIterable {
        /// Determined by the platform and the format of the request (docs/contracts/rationalowl.md#2.1).
        case auto
        /// The vendor document of 2023: `as`, `c`, and `cId` 303 in `msgInfo`.
        case doc2023
        /// The vendor document of 2025: `ase`, `cmt`.
        case doc2025
        /// Both spellings, always.
        case both
    }

    /// The code that `installApp` answers for a device that is already registered.
    package enum AlreadyCode: Sendable, Hashable {
        case fixed(RationalOwlCode)
        /// -301 for iOS, -202 for Android: the values that the demo apps expect.
        case byPlatform

        func code(for platform: Platform) -> RationalOwlCode {
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
    /// Whether `unregUser` with a phone and without a device unregisters all devices of the phone. A phone number is not a secret.
    package var unregistersByPhone = false
    package var androidCommentKey = "cmt"
    /// How long after its due time a push may be delivered. Default 72 h (the core's queuing period).
    package var timeToLive: Duration = .seconds(72 * 3600)
    /// The time zone of reservation times.
    package var timeZone = "Asia/Seoul"
    /// The server's identity that an app stores; nil: derived from the account id.
    package var serverRegistrationID: String?
    package var accountID: String?
    package var serviceID: String?
    /// `host:port` of the core's channel server; nil: the host of the call.
    package var channelServer: String?
    package var privateChannelServer: String?
    /// Approved sending numbers, digits only; nil: any.
    package var sendingNumbers: Set<String>?

    package init(_ binding: BindingSettings) {
        // Most bindings have no settings, and a lookup by dotted path costs more than the rest of a short call.
        if binding.values.isEmpty { return }
        profile = binding["compat.profile"]?.string.flatMap(Profile.init(rawValue:)) ?? profile
        msgInfoCommandID = binding["compat.msgInfoCid"].flatMap(Self.msgInfoCommandID)
        alreadyCode = binding["installApp.alreadyCode"].flatMap(Self.alreadyCode) ?? alreadyCode
        isServiceIDStrict = binding["installApp.strictServiceId"]?.bool ?? isServiceIDStrict
        unregistersByPhone = binding["unregisterByPhone"]?.bool ?? unregistersByPhone
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

    /// The server's identity that an app may store, one per account, never empty for a known account (docs/contracts/rationalowl.md#5.1).
    ///
    /// Assumed: `SVR` and the account id, in the format of the app-server ids in public configurations. A test account would show the vendor's value.
    func serverRegistrationID(account: String) -> String {
        serverRegistrationID ?? "SVR\(account)"
    }

    func msgInfoCommandID(default id: Int) -> Int {
        msgInfoCommandID ?? (profile == .doc2023 ? 303 : id)
    }
}

/// The settings that a payload reads. They are separate from the others because they are read for each push.
struct PayloadSettings {
    /// Whether payloads have `notiTitle` and `notiBody` in addition to `title` and `body`: one generation's extension requires them
    /// (docs/contracts/rationalowl.md#6.1).
    var duplicatesNotiKeys = true
    var urgentIsTimeSensitive = false

    init(_ binding: BindingSettings) {
        if binding.values.isEmpty { return }
        duplicatesNotiKeys = binding["push.duplicateNotiKeys"]?.bool ?? duplicatesNotiKeys
        urgentIsTimeSensitive = binding["push.timeSensitive"]?.bool ?? urgentIsTimeSensitive
    }
}

extension RationalOwlSettings {
    /// Every setting that has an effect. Those of `auth` are read by the commands, but belong to this binding too. A documented key whose feature does
    /// not exist yet is refused as unknown, because accepting it would promise the feature.
    package static let declared = VendorSettings([
        IdentitySettings.historyScope,
        IdentitySettings.userMoves,
        VendorSetting(
            "compat.profile",
            default: "auto",
            "Which generation's field names are answered: auto, doc2023, doc2025 or both."
        ) {
            $0.string.flatMap(Profile.init(rawValue:)) != nil
        },
        VendorSetting("compat.msgInfoCid", "The `cId` of msgInfo answers: 303 or 312. Default: 312, under doc2023 303.")
        {
            msgInfoCommandID($0) != nil
        },
        VendorSetting(
            "installApp.alreadyCode",
            default: "documented",
            "The answer of installApp for a registered device: documented, demo, auto, hello, or -102, -202, -301, 1."
        ) { alreadyCode($0) != nil },
        VendorSetting(
            "installApp.strictServiceId",
            default: "false",
            "Whether installApp must name the binding's service."
        ) {
            $0.bool != nil
        },
        VendorSetting(
            "unregisterByPhone",
            default: "false",
            "Whether unregUser with a phone alone unregisters the phone's devices; otherwise it is answered and changes nothing."
        ) {
            $0.bool != nil
        }
        .risky(
            .medium,
            "Anyone who knows a phone number can end the messages to it.",
            remedy: "Remove it; apps then name the device."
        )
        .refusing("unregUser with a phone alone"),
        VendorSetting("verify.commentKeyAndroid", default: "cmt", "The name of the comment for Android apps: cmt or c.")
        {
            commentKey($0) != nil
        },
        VendorSetting("auth.ttl", default: "180", "Seconds for which a code by text message is valid, 1 to 86400.") {
            isInteger($0, in: 1...86_400)
        },
        VendorSetting("auth.maxTries", default: "5", "How often a code may be tried, 1 to 20.") {
            isInteger($0, in: 1...20)
        },
        VendorSetting("auth.testCodes", "Phone numbers with fixed codes, for tests and for app reviewers.") {
            isCodes($0)
        }
        .risky(
            .medium,
            "Whoever knows a fixed code passes the check of its phone number.",
            remedy: "Remove it, or use numbers that no customer can have.",
            when: { $0 != nil }
        ),
        VendorSetting("push.ttlHours", default: "72", "Hours for which a push may wait for its device, 1 to 672.") {
            hours($0) != nil
        },
        VendorSetting(
            "push.duplicateNotiKeys",
            default: "true",
            "Whether payloads have notiTitle and notiBody in addition to title and body."
        ) { $0.bool != nil },
        VendorSetting(
            "push.timeSensitive",
            default: "false",
            "Whether urgent messages are time-sensitive notifications."
        ) {
            $0.bool != nil
        },
        VendorSetting("timezone", default: "Asia/Seoul", "The time zone of reservation times.") {
            $0.string.map(ReservationTime.isZone) ?? false
        },
        VendorSetting("usRid", "The server's identity that apps store. Default: SVR and the account id.") {
            text($0) != nil
        },
        VendorSetting("accountId", "The account id in answers. Default: the binding's.") { text($0) != nil },
        VendorSetting("serviceId", "The service id in answers. Default: the binding's.") { text($0) != nil },
        VendorSetting("channelServer", "host:port of the channel server in answers. Default: the host of the call.") {
            text($0) != nil
        },
        VendorSetting("privateChannelServer", "host:port of the channel server for private networks.") {
            text($0) != nil
        },
        VendorSetting("fallback.sendingNumbers", "The approved sending numbers. Default: any.") { numbers($0) != nil },
    ])

    private static func isInteger(_ value: JSON, in range: ClosedRange<Int64>) -> Bool {
        value.lenientInt.map(range.contains) ?? false
    }

    /// Whether the value maps phone numbers to fixed codes, for tests and for app reviewers.
    private static func isCodes(_ value: JSON) -> Bool {
        value.object?.pairs.allSatisfy { phone, code in
            PhoneNumber(phone)?.digits == phone
                && (code.lenientString.map { (1...16).contains($0.utf8.count) } ?? false)
        } ?? false
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

    /// 1 hour to 28 days, the longest time that the gateway keeps a push; the vendor's dedicated edition has 30 days
    /// (docs/contracts/rationalowl.md#6.6).
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

extension RationalOwlAdapter: ProvisionedVendor {
    package var bindingForm: BindingForm {
        BindingForm(
            product: "RationalOwl and RationalUMS",
            fields: [
                .plain("accountId", "The account id, which apps and back ends send as aId."),
                .plain("serviceId", "The service id, which back ends and the shim send as sId. Optional."),
                .plain(
                    "senders[].name",
                    "The registerName of a back end. Only a proven caller gets the id of that name."
                ),
                .plain("senders[].id", "Its rId, if it has one of the vendor's server. Default: a new one."),
            ],
            settings: RationalOwlSettings.declared
        )
    }

    package func binding(from source: inout BindingSource) throws(ProvisioningProblem) -> VendorBinding {
        var keys = [VendorBinding.Key("account", try source.fields.text("accountId"))]
        if let service = try source.fields.optionalText("serviceId") { keys.append(.init("service", service)) }
        return VendorBinding(keys: keys, settings: source.settings, senders: try senders(&source))
    }
    private func senders(_ source: inout BindingSource) throws(ProvisioningProblem) -> [VendorBinding.Sender] {
        var senders: [VendorBinding.Sender] = []
        let list = try source.fields.list("senders")
        guard list.count <= RationalOwlLimits.provisionedSenders else {
            throw ProvisioningProblem(
                path: "\(source.path).senders",
                problem: "at most \(RationalOwlLimits.provisionedSenders) senders"
            )
        }
        for (path, value) in list {
            var fields = try StrictFields(value, path: path)
            let name = try fields.text("name")
            guard name.utf8.count <= RationalOwlLimits.nameBytes else {
                throw ProvisioningProblem(path: "\(path).name", problem: "at most \(RationalOwlLimits.nameBytes) bytes")
            }
            let id = try fields.optionalText("id")
            if let id, !(1...RationalOwlLimits.identifierBytes).contains(id.utf8.count) {
                throw ProvisioningProblem(
                    path: "\(path).id",
                    problem: "1 to \(RationalOwlLimits.identifierBytes) bytes"
                )
            }
            guard !senders.contains(where: { $0.name == name || id != nil && $0.id?.rawValue == id }) else {
                throw ProvisioningProblem(path: path, problem: "the name or the id appears twice")
            }
            try fields.finish()
            senders.append(.init(name: name, id: id.map { SenderID($0) }))
        }
        return senders
    }
}
