import Foundation

/// Rows 40 to 49: `/4/broadcasts/apps/<bundle>`. They replace rows 15 to 24.
///
/// Source of the reasons: Apple, "Sending broadcast push notification requests to APNs" and "Handling error responses from APNs" (read 2026-11); their order is
/// our own.
enum BroadcastRules {
    static let all =
        [
            Rule(40, .documented, feature),
            Rule(41, .documented, bundleWithoutSuffix),
            Rule(42, .deduced, permission),
            Rule(43, .documented, pushType),
        ] + channelHeader + [
            Rule(47, .documented, PushHeaderRules.priority),
            Rule(48, .documented, expiration),
            Rule(49, .documented, strayHeaders),
        ]

    /// Rows 44 to 46, which apply to channel management as well.
    static let channelHeader = [
        Rule(44, .documented) {
            $0.request.channelID?.isEmpty ?? true ? RuleRefusal(.missingChannelID) : nil
        },
        Rule(45, .documented, channelSyntax),
        Rule(46, .documented, channelExists),
    ]

    /// Longest channel id in bytes. Assumed: Apple documents base64 without a length; a header list ends at 8000 bytes anyway.
    private static let longestChannelIDBytes = 256

    static func feature(_ examination: inout Examination) -> RuleRefusal? {
        guard let apps = examination.settings.broadcastApps, let bundle = examination.endpoint.bundle else {
            return nil
        }
        return apps.contains(String(bundle.dropLast(SimulatedPushType.suffix(of: bundle).count)))
            ? nil : RuleRefusal(.featureNotEnabled)
    }

    static func bundleWithoutSuffix(_ examination: inout Examination) -> RuleRefusal? {
        SimulatedPushType.suffix(of: examination.endpoint.bundle ?? "").isEmpty ? nil : RuleRefusal(.topicDisallowed)
    }

    /// Refuses a topic-specific key or a certificate of another app. Assumed: Apple lists the reason without stating when it is used.
    static func permission(_ examination: inout Examination) -> RuleRefusal? {
        guard let bundle = examination.endpoint.bundle else { return nil }
        let topics = examination.connection.certificate?.topics ?? examination.connection.key?.topics.map(Array.init)
        return topics?.contains(bundle) ?? true ? nil : RuleRefusal(.topicMismatch)
    }

    /// Checks the push type. Apple's own samples write `Liveactivity`.
    private static func pushType(_ examination: inout Examination) -> RuleRefusal? {
        guard let type = examination.request.pushType else { return RuleRefusal(.missingPushType) }
        guard type.lowercased() == SimulatedPushType.liveactivity.rawValue else { return RuleRefusal(.invalidPushType) }
        examination.pushType = .liveactivity
        return nil
    }

    private static func channelSyntax(_ examination: inout Examination) -> RuleRefusal? {
        guard let id = examination.request.channelID, id.utf8.count <= longestChannelIDBytes,
            let bytes = Data(base64Encoded: id), !bytes.isEmpty
        else { return RuleRefusal(.badChannelID) }
        return nil
    }

    /// Checks that the channel exists. For broadcasts and reads of a deleted channel the reason is `ChannelNotRegistered`; a second deletion is 404 `BadPath`
    /// (observed).
    private static func channelExists(_ examination: inout Examination) -> RuleRefusal? {
        let id = examination.request.channelID ?? ""
        examination.channel = examination.facts.channels.find(examination.endpoint.bundle ?? "", id)
        guard examination.channel == nil else { return nil }
        return examination.request.method == "DELETE" ? RuleRefusal(.badPath) : RuleRefusal(.channelNotRegistered)
    }

    /// Checks the expiration. A channel that stores nothing accepts only expiration 0.
    private static func expiration(_ examination: inout Examination) -> RuleRefusal? {
        if let refusal = PushHeaderRules.expiration(&examination) { return refusal }
        guard examination.channel?.storesNewest == false else { return nil }
        guard let expiration = examination.request.expiration else {
            examination.findings.append("a broadcast without apns-expiration to a channel that stores nothing")
            return nil
        }
        return Int(expiration) == 0 ? nil : RuleRefusal(.badExpirationDate)
    }

    /// Records unexpected headers. Apple lists neither for broadcasts and does not document how it treats them; a script may answer by channel id.
    private static func strayHeaders(_ examination: inout Examination) -> RuleRefusal? {
        if examination.request.topic != nil { examination.findings.append("a broadcast with apns-topic") }
        if examination.request.collapseID != nil { examination.findings.append("a broadcast with apns-collapse-id") }
        examination.deviceToken = examination.request.channelID ?? ""
        examination.scripted = examination.facts.scriptedAnswer(examination.deviceToken)
        return nil
    }
}
