package import Model

/// Apple's payload, read as content that every dialect can show. The inverse of `Aps.init(_:)`, for messages of vendors whose API takes Apple's payload.
package struct AppleReading: Sendable {
    /// Title, subtitle, body, badge, sound, category, thread and urgency; the caller's own keys are its data.
    package private(set) var content = Content()
    /// The parts without a field in `Content`, by Apple's names.
    package private(set) var untranslated: Set<String> = []

    /// The keys of `aps` that have a field in `Content`, or that each dialect sets itself.
    private static let known: Set<String> = [
        AppleKey.alert, AppleKey.badge, AppleKey.sound, "category", "thread-id", AppleKey.interruptionLevel,
        AppleKey.mutableContent, AppleKey.contentAvailable,
    ]

    package init(_ document: JSONObject) {
        let aps = document[AppleKey.aps]?.object ?? JSONObject()
        content.data = document.besideAps
        content.badge = aps[AppleKey.badge]?.int.map { Int(clamping: $0) }
        content.category = aps["category"]?.string
        content.threadID = aps["thread-id"]?.string
        content.isSilent = aps[AppleKey.alert] == nil && aps[AppleKey.contentAvailable] != nil
        readAlert(aps[AppleKey.alert])
        readSound(aps[AppleKey.sound])
        readLevel(aps[AppleKey.interruptionLevel]?.string)
        if !content.isSilent, aps[AppleKey.contentAvailable] != nil { untranslated.insert(AppleKey.contentAvailable) }
        for (key, _) in aps.pairs where !Self.known.contains(key) { untranslated.insert(key) }
    }

    private mutating func readAlert(_ alert: JSON?) {
        guard let object = alert?.object else {
            content.body = alert?.string ?? ""
            return
        }
        content.title = object[AppleKey.title]?.string
        content.subtitle = object[AppleKey.subtitle]?.string
        content.body = object[AppleKey.body]?.string ?? ""
        let texts = [AppleKey.title, AppleKey.subtitle, AppleKey.body]
        for (key, _) in object.pairs where !texts.contains(key) { untranslated.insert(key) }
    }

    private mutating func readSound(_ sound: JSON?) {
        content.sound = sound?.string ?? sound?["name"]?.string
        // A critical alert needs an entitlement and its own form.
        if sound?.object != nil { untranslated.insert(AppleKey.sound) }
    }

    private mutating func readLevel(_ level: String?) {
        let known = level.flatMap { Aps.InterruptionLevel(rawValue: $0) }
        switch known {
        case .timeSensitive: content.isUrgent = true
        case .active, nil: break
        case .passive, .critical: untranslated.insert(AppleKey.interruptionLevel)
        }
    }
}

extension NormalizedContent {
    /// The content of `original`, whose payload is `document`, as every dialect can show it.
    ///
    /// - Parameters:
    ///   - document: Apple's payload, with the caller's keys next to `aps`.
    ///   - original: its campaign and its rules of the audience stay.
    ///   - vendor: the prefix of the names of lost parts.
    ///   - lost: further lost parts, without the prefix.
    package init(reading document: JSONObject, of original: Content, vendor: Vendor, lost: Set<String> = []) {
        let reading = AppleReading(document)
        var content = reading.content
        content.isSilent = content.isSilent || original.isSilent
        content.badgeStep = original.badgeStep
        content.media = original.media
        content.consent = original.consent
        content.minAssurance = original.minAssurance
        content.campaign = original.campaign
        content.campaignVariant = original.campaignVariant
        self.init(content, untranslated: Set(reading.untranslated.union(lost).map { "\(vendor).\($0)" }))
    }
}
