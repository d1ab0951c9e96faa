package import Model

/// The server version that an app was built for. It determines the payload's keys and the meaning of `BADGENO` (docs/contracts/upmc.md#1.7).
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

/// The settings of a UPMC binding, read once per call; an invalid value leaves the default.
package struct UPMCSettings: Sendable, Hashable {
    /// How a message with title and body becomes an alert (docs/contracts/upmc.md#1.10.1).
    package enum AlertStyle: String, Sendable, CaseIterable {
        /// One text: title, a line break, body.
        case string
        /// `{"title", "body"}`.
        case dictionary
        /// `MESSAGE` as received.
        case raw
    }

    package var applicationID = ""
    package var version: UPMCVersion = .v4EE
    /// Nil: by version, `dictionary` from 5.0 on.
    package var alertStyle: AlertStyle?
    /// Whether every payload has `mutable-content`.
    package var isMutable = false
    /// Whether calls of apps need an `AUTHKEY`.
    package var needsKey = false
    package var isSingleDevicePerUser = false
    /// Whether a `CUID` alone permits reading that user's history.
    package var showsHistoryByUser = false
    /// Whether a `CUID` alone permits receipts and badges of that user.
    package var acceptsReceiptsByUser = false
    /// Whether a `CUID` alone joins and leaves groups.
    package var acceptsGroupsByUser = true
    package var decodesMessageTwice = true
    /// The base URL of pages, without a trailing slash; nil: pages are not supported.
    package var publicURL: String?

    package init(_ binding: BindingSettings) {
        applicationID = binding["applicationId"]?.lenientString ?? applicationID
        version = binding["version"]?.lenientString.flatMap(UPMCVersion.init(rawValue:)) ?? version
        alertStyle = binding["alertStyle"]?.string.flatMap(AlertStyle.init(rawValue:))
        isMutable = binding["mutableContent"].flatMap(Self.flag) ?? isMutable
        needsKey = binding["security.using"].flatMap(Self.flag) ?? needsKey
        isSingleDevicePerUser = binding["singleDevicePerUser"].flatMap(Self.flag) ?? isSingleDevicePerUser
        showsHistoryByUser = binding["history.cuidAlone"].flatMap(Self.flag) ?? showsHistoryByUser
        acceptsReceiptsByUser = binding["receiptsByUser"].flatMap(Self.flag) ?? acceptsReceiptsByUser
        acceptsGroupsByUser = binding["groupsByUser"].flatMap(Self.flag) ?? acceptsGroupsByUser
        decodesMessageTwice = binding["doubleDecodeMessage"].flatMap(Self.flag) ?? decodesMessageTwice
        publicURL = binding["publicUrl"].flatMap(Self.url)
    }

    /// The name of the `AUTHKEY` secret among the binding's sealed secrets.
    package static let secretName = "authKey"
    /// The name of the secret that senders show in `X-Gateway-Key`.
    package static let sendSecretName = "sendKey"

    package static let declared = VendorSettings([
        IdentitySettings.historyScope,
        IdentitySettings.userMoves,
        VendorSetting("version", default: "4.0EE", "The server version that the apps were built for, 3.0 to 5.1.") {
            $0.lenientString.flatMap(UPMCVersion.init(rawValue:)) != nil
        },
        VendorSetting(
            "alertStyle",
            "How title and text are shown: string, dictionary or raw. Default: string, from version 5.0 on dictionary."
        ) { $0.string.flatMap(AlertStyle.init(rawValue:)) != nil },
        VendorSetting("mutableContent", default: "false", "Whether every payload has mutable-content.") {
            flag($0) != nil
        },
        VendorSetting("security.using", default: "false", "Whether calls of apps need an AUTHKEY.") { flag($0) != nil }
            .risky(
                .low,
                "Calls of apps need no key at all; an AUTHKEY stops only those who do not know the protocol.",
                remedy: "Set it to true if the apps were built with it.",
                when: { $0.flatMap(flag) != true }
            ),
        VendorSetting("singleDevicePerUser", default: "false", "Whether a user has one device at a time.") {
            flag($0) != nil
        },
        VendorSetting(
            "history.cuidAlone",
            default: "false",
            "Whether a CUID alone is enough to read that user's history."
        ) {
            flag($0) != nil
        }
        .risky(
            .high,
            "Anyone who knows or guesses a CUID reads all messages to that user.",
            remedy: "Remove it; apps then name the device's PSID.",
            when: { $0.flatMap(flag) == true }
        )
        .refusing("histories by CUID alone"),
        VendorSetting(
            "receiptsByUser",
            default: "false",
            "Whether a CUID alone, without the device's PSID or DEVICE_ID, is enough for receipts and badges of that user."
        ) {
            flag($0) != nil
        }
        .risky(
            .medium,
            "Anyone who knows or guesses a CUID can report messages to that user as read.",
            remedy: "Remove it; apps then name the device's PSID or DEVICE_ID.",
            when: { $0.flatMap(flag) == true }
        )
        .refusing("receipts and badges by CUID alone"),
        VendorSetting(
            "groupsByUser",
            default: "true",
            "Whether a CUID alone, without the device's PSID or DEVICE_ID, is enough to join and leave groups."
        ) {
            flag($0) != nil
        }
        .risky(
            .medium,
            "Anyone who knows or guesses a CUID can add that user to groups and take it out of them.",
            remedy: "Set it to false if the apps name the device's PSID or DEVICE_ID when they join and leave.",
            when: { $0.flatMap(flag) != false }
        ),
        VendorSetting("doubleDecodeMessage", default: "true", "Whether MESSAGE may be percent-encoded twice.") {
            flag($0) != nil
        },
        VendorSetting("publicUrl", "The base URL of pages, http or https. Default: pages are not supported.") {
            url($0) != nil
        },
        VendorSetting(
            BindingSettings.numbersFrom,
            "The first SEQNO of the gateway, above those of the vendor. Default: 1,000,000 above the observed ones, else 1."
        ) { value in
            value.lenientInt.map { (1...999_999_999_999_999).contains($0) } ?? false
        },
        VendorSetting("push.ttlHours", default: "72", "Hours for which a push may wait for its device, 1 to 672.") {
            value in
            value.lenientInt.map { (1...672).contains($0) } ?? false
        },
    ])

    /// The problems with `values`, one sentence each; empty if they can be used.
    package static func problems(in values: JSONObject, hasSecret: Bool) -> [String] {
        let isUsing = BindingSettings(values: values)["security.using"].flatMap(flag) ?? false
        let missing = isUsing && !hasSecret ? ["security.using: needs authKeySecretEnv or authKeySecretFile"] : []
        return declared.problems(in: values) + missing
    }

    /// True or false; also `on` and `off`, because YAML parsers disagree about them.
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

extension UPMCAdapter: ProvisionedVendor {
    package var bindingForm: BindingForm {
        BindingForm(
            product: "UPMC (Morpheus Push)",
            fields: [
                .plain("applicationId", "The application id, which calls send as APP_ID."),
                .plain("bundleId", "The bundle id, for apps of version 3.0 that send only that. Optional."),
                .plain("version", "The setting `version`."),
                .secret("authKeySecret", "The secret that signs AUTHKEYs of apps. At least 16 characters."),
                .secret(
                    "sendKey",
                    "A key that back ends show in X-Gateway-Key to send. At least 16 characters. Optional."
                ),
            ],
            settings: UPMCSettings.declared
        )
    }

    package func binding(from source: inout BindingSource) throws(ProvisioningProblem) -> VendorBinding {
        var keys = [VendorBinding.Key("application", try source.fields.text("applicationId"))]
        if let bundle = try source.fields.optionalText("bundleId") { keys.append(.init("bundle", bundle)) }
        var settings = source.settings
        if let version = try source.fields.optionalText("version") { settings["version"] = .string(version) }
        var secrets: [String: String] = [:]
        secrets[UPMCSettings.secretName] = try source.optionalSecret("authKeySecret")
        secrets[UPMCSettings.sendSecretName] = try source.optionalSecret("sendKey")
        for (name, secret) in secrets where secret.utf8.count < UPMCLimits.secretBytes {
            throw ProvisioningProblem(
                path: source.path,
                problem: "the secret \(name) must have at least \(UPMCLimits.secretBytes) characters"
            )
        }
        let hasSecret = secrets[UPMCSettings.secretName] != nil
        if let problem = UPMCSettings.problems(in: settings, hasSecret: hasSecret).first {
            throw ProvisioningProblem(path: "\(source.path).settings", problem: problem)
        }
        return VendorBinding(keys: keys, settings: settings, secrets: secrets)
    }

    /// A binding that is the only one on its host also answers calls that name no app: those of version 3.0.
    package func complete(_ binding: inout VendorBinding, in context: BindingContext) throws(ProvisioningProblem) {
        guard let host = context.host, !context.otherHosts.contains(host) else { return }
        binding.keys.append(.init("only", "*"))
    }
}
