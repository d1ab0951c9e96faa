internal import Model

/// The rules for typed payloads: each documented rule whose violation makes Apple refuse the payload, or makes devices not show it, is one line.
///
/// Source: Apple, "Generating a remote notification", "Pushing background updates to your App", "Starting and updating Live Activities with ActivityKit push
/// notifications"; docs/contracts/apns.md#6, docs/contracts/apns.md#10, docs/contracts/apns.md#17. Unknown types are accepted.
enum PayloadRules {
    /// A caller's key for a fault: shortened and without control characters, because faults are logged.
    static func label(_ key: String) -> String {
        let scalars = key.unicodeScalars.lazy.filter { $0.value >= 0x20 && $0.value != 0x7F }
        return String(String.UnicodeScalarView(scalars.prefix(AppleLimits.labelBytes)))
    }

    /// The fault of a kind of body that does not fit the type, or nil.
    static func kindFault(_ body: borrowing APNsPayload.Body, _ rule: PushTypeRule) -> PushFault? {
        let kind = rule.body
        if kind == .any { return nil }
        let field: String
        // Each value has its own `switch`: a `switch` over both as a pair would copy the body.
        switch body {
        case .notification:
            if kind == .alert || kind == .background || kind == .notification { return nil }
            field = "aps"
        case .liveActivity:
            if kind == .liveActivity { return nil }
            field = "aps.event"
        case .contentChanged:
            if kind == .contentChanged { return nil }
            field = "aps.content-changed"
        case .mdm:
            if kind == .mdm { return nil }
            field = "mdm"
        }
        switch kind {
        case .mdm: return PushFault("mdm", .missing)
        case .liveActivity: return PushFault("aps.event", .missing)
        case .contentChanged: return PushFault("aps.content-changed", .missing)
        case .any, .alert, .background, .notification:
            return PushFault(field, .notAllowed("in a push of type \(rule.name)"))
        }
    }

    // MARK: aps

    /// The first rule that the dictionary breaks in a push whose body must be `body`.
    static func fault(in aps: borrowing Aps, _ body: PushTypeRule.Body) -> PushFault? {
        if body == .background { return backgroundFault(copy aps) }
        if case nil = aps.alert {
            if body == .alert, aps.badge == nil, case nil = aps.sound { return PushFault("aps.alert", .missing) }
            if aps.isContentMutable { return PushFault("aps.mutable-content", .notAllowed("without an alert")) }
        } else if case .detailed(let content) = aps.alert, let fault = fault(in: content) {
            return fault
        } else if case .dictionary(let object) = aps.alert, let fault = fault(inAlert: object) {
            return fault
        }
        if let badge = aps.badge, badge < 0 { return PushFault("aps.badge", .outOfRange("0 or more")) }
        // Written as a comparison, so that NaN fails as well.
        if case .critical(_, let volume) = aps.sound, !(volume >= 0 && volume <= 1) {
            return PushFault("aps.sound.volume", .outOfRange("0.0 through 1.0"))
        }
        if let score = aps.relevanceScore, !(score >= 0 && score <= 1) {
            return PushFault("aps.relevance-score", .outOfRange("0.0 through 1.0"))
        }
        return nil
    }

    /// The fault of a background push: its dictionary must contain only `content-available: 1` (Apple, "Pushing background updates to your App").
    ///
    /// An empty `sound` is accepted: some back ends send it, and it plays nothing.
    private static func backgroundFault(_ aps: Aps) -> PushFault? {
        if !aps.isContentAvailable { return PushFault("aps.content-available", .missing) }
        let others: [(String, Bool)] = [
            ("alert", aps.alert != nil), ("badge", aps.badge != nil),
            ("sound", aps.sound != nil && aps.sound != .named("")),
            ("thread-id", aps.threadID != nil), ("category", aps.category != nil),
            ("mutable-content", aps.isContentMutable), ("target-content-id", aps.targetContentID != nil),
            ("interruption-level", aps.interruptionLevel != nil), ("relevance-score", aps.relevanceScore != nil),
            ("filter-criteria", aps.filterCriteria != nil), ("url-args", aps.urlArguments != nil),
        ]
        return others.first(where: \.1).map { PushFault("aps.\($0.0)", .notAllowed("in a background push")) }
    }

    private static func fault(in content: borrowing AlertContent) -> PushFault? {
        if case nil = content.title, case nil = content.subtitle, case nil = content.body {
            return PushFault("aps.alert.body", .missing)
        }
        if isKeyless(content.title) { return PushFault("aps.alert.title-loc-key", .missing) }
        if isKeyless(content.subtitle) { return PushFault("aps.alert.subtitle-loc-key", .missing) }
        if isKeyless(content.body) { return PushFault("aps.alert.loc-key", .missing) }
        return nil
    }

    /// The first fault of an alert object that a caller wrote.
    static func fault(inAlert object: JSONObject) -> PushFault? {
        for key in AppleKey.alertTexts where object[key] != nil && object[key]?.string == nil {
            return PushFault("aps.alert.\(key)", .malformed("a string"))
        }
        for key in AppleKey.alertArguments {
            guard let value = object[key] else { continue }
            guard let list = value.array, list.allSatisfy({ $0.string != nil }) else {
                return PushFault("aps.alert.\(key)", .malformed("a list of strings"))
            }
        }
        return nil
    }

    private static func isKeyless(_ text: AlertText?) -> Bool {
        if case .localized(let key, _) = text { key.isEmpty } else { false }
    }

    // MARK: Live Activities

    static func fault(in activity: LiveActivity) -> PushFault? {
        if activity.timestamp.seconds <= 0 { return PushFault("aps.timestamp", .outOfRange("seconds since 1970")) }
        switch activity.event {
        case .start(let start):
            if start.attributesType.isEmpty { return PushFault("aps.attributes-type", .missing) }
            if activity.contentState == nil { return PushFault("aps.content-state", .missing) }
            if activity.alert == nil { return PushFault("aps.alert", .missing) }
        case .update:
            if activity.contentState == nil { return PushFault("aps.content-state", .missing) }
        case .end(let date):
            if let date, date.seconds < 0 { return PushFault("aps.dismissal-date", .outOfRange("seconds since 1970")) }
        }
        if let date = activity.staleDate, date.seconds < 0 {
            return PushFault("aps.stale-date", .outOfRange("seconds since 1970"))
        }
        if let score = activity.relevanceScore, !score.isFinite {
            return PushFault("aps.relevance-score", .outOfRange("a finite number"))
        }
        if isKeyless(activity.alert?.title) { return PushFault("aps.alert.title.loc-key", .missing) }
        if isKeyless(activity.alert?.body) { return PushFault("aps.alert.body.loc-key", .missing) }
        return nil
    }
}
