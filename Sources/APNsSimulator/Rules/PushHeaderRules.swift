/// Rows 15 to 21: the headers of a push.
enum PushHeaderRules {
    static let all = [
        Rule(15, .documented, topicPresence),
        Rule(16, .documented, topicSyntax),
        Rule(17, .documented, topicPermission),
        Rule(18, .documented, pushType),
        Rule(19, .documented, priority),
        Rule(20, .documented, expiration),
        Rule(21, .documented, collapseID),
    ]

    /// Longest topic. Assumed: a bundle identifier has at most 155 characters, and the longest suffix has 23.
    static let longestTopicBytes = 255

    /// Longest collapse identifier in bytes (Apple, "Sending notification requests to APNs").
    private static let longestCollapseIDBytes = 64

    /// The header may be missing only if a certificate has a single topic.
    private static func topicPresence(_ examination: inout Examination) -> RuleRefusal? {
        if let topic = examination.request.topic, !topic.isEmpty {
            examination.topic = topic
            return nil
        }
        guard let topics = examination.connection.certificate?.topics, topics.count == 1 else {
            return RuleRefusal(.missingTopic)
        }
        examination.topic = topics[0]
        return nil
    }

    private static func topicSyntax(_ examination: inout Examination) -> RuleRefusal? {
        let topic = examination.topic
        examination.pushType = examination.request.pushType.flatMap(SimulatedPushType.init(rawValue:))
        let isWellFormed = topic.utf8.count <= longestTopicBytes && topic.utf8.allSatisfy(isTopicByte)
        guard isWellFormed, topic.first != ".", topic.last != "." else { return RuleRefusal(.badTopic) }
        guard let type = examination.pushType, type != .mdm else { return nil }
        let suffix = SimulatedPushType.suffix(of: topic)
        return suffix == type.topicSuffix && topic.utf8.count > suffix.utf8.count ? nil : RuleRefusal(.badTopic)
    }

    /// Whether a byte may be part of a topic or bundle identifier.
    static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func topicPermission(_ examination: inout Examination) -> RuleRefusal? {
        let topic = examination.topic
        if let certificate = examination.connection.certificate {
            // "location" requires a token (Apple, "Sending notification requests to APNs"); so does "liveactivity", according to comments in apns2.
            let isForTokens = examination.pushType == .location || examination.pushType == .liveactivity
            return certificate.topics.contains(topic) && !isForTokens ? nil : RuleRefusal(.topicDisallowed)
        }
        guard let topics = examination.connection.key?.topics else { return nil }
        let bundle = String(topic.dropLast(SimulatedPushType.suffix(of: topic).count))
        return topics.contains(bundle) || topics.contains(topic) ? nil : RuleRefusal(.topicDisallowed)
    }

    /// An absent push type is accepted: Apple requires it only for watchOS 6 and later.
    private static func pushType(_ examination: inout Examination) -> RuleRefusal? {
        examination.request.pushType != nil && examination.pushType == nil ? RuleRefusal(.invalidPushType) : nil
    }

    static func priority(_ examination: inout Examination) -> RuleRefusal? {
        guard let priority = examination.request.priority else {
            if examination.pushType == .background {
                examination.findings.append(
                    "a background push without apns-priority has priority 10, which is an error"
                )
            }
            return nil
        }
        guard ["1", "5", "10"].contains(priority) else { return RuleRefusal(.badPriority) }
        if priority == "1", examination.pushType == .liveactivity {
            examination.findings.append("a live activity has priority 5 or 10")
        }
        return priority == "10" && examination.pushType == .background ? RuleRefusal(.badPriority) : nil
    }

    static func expiration(_ examination: inout Examination) -> RuleRefusal? {
        guard let text = examination.request.expiration else { return nil }
        guard let seconds = Int(text), seconds >= 0 else { return RuleRefusal(.badExpirationDate) }
        return nil
    }

    private static func collapseID(_ examination: inout Examination) -> RuleRefusal? {
        guard let id = examination.request.collapseID else { return nil }
        return id.utf8.count <= longestCollapseIDBytes ? nil : RuleRefusal(.badCollapseID)
    }
}
