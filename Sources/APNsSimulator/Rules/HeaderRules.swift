/// Rows 15 to 21: the push's own headers.
enum HeaderRules {
    static let all = [
        Rule(15, .documented) { $0.request.topic?.isEmpty ?? true ? Refusal(.missingTopic) : nil },
        Rule(16, .documented, topicSyntax),
        Rule(17, .documented, topicPermission),
        Rule(18, .documented, pushType),
        Rule(19, .documented, priority),
        Rule(20, .documented, expiration),
        Rule(21, .documented, collapseID),
    ]

    /// Longest topic. Assumed: a bundle identifier ends at 155 characters, the longest suffix has 23.
    private static let longestTopicBytes = 255

    /// Longest collapse identifier in bytes (Apple, "Sending notification requests to APNs").
    private static let longestCollapseIDBytes = 64

    private static let suffixes = PushType.allCases.map(\.topicSuffix).filter { !$0.isEmpty }

    private static func topicSyntax(_ examination: inout Examination) -> Refusal? {
        guard let topic = examination.request.topic else { return nil }
        examination.pushType = examination.request.pushType.flatMap(PushType.init(rawValue:))
        let isWellFormed = topic.utf8.count <= longestTopicBytes && topic.utf8.allSatisfy(isTopicByte)
        guard isWellFormed, topic.first != ".", topic.last != "." else { return Refusal(.badTopic) }
        guard let type = examination.pushType, type != .mdm else { return nil }
        let suffix = suffixes.first(where: topic.hasSuffix) ?? ""
        return suffix == type.topicSuffix && topic.utf8.count > suffix.utf8.count ? nil : Refusal(.badTopic)
    }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func topicPermission(_ examination: inout Examination) -> Refusal? {
        guard let topics = examination.connection.key?.topics, let topic = examination.request.topic else { return nil }
        let suffix = suffixes.first(where: topic.hasSuffix) ?? ""
        let bundle = String(topic.dropLast(suffix.count))
        return topics.contains(bundle) || topics.contains(topic) ? nil : Refusal(.topicDisallowed)
    }

    /// An absent push type passes: Apple requires it for watchOS 6 and later alone.
    private static func pushType(_ examination: inout Examination) -> Refusal? {
        examination.request.pushType != nil && examination.pushType == nil ? Refusal(.invalidPushType) : nil
    }

    private static func priority(_ examination: inout Examination) -> Refusal? {
        guard let priority = examination.request.priority else {
            if examination.pushType == .background {
                examination.findings.append(
                    "a background push without apns-priority has priority 10, which is an error"
                )
            }
            return nil
        }
        guard ["1", "5", "10"].contains(priority) else { return Refusal(.badPriority) }
        return priority == "10" && examination.pushType == .background ? Refusal(.badPriority) : nil
    }

    private static func expiration(_ examination: inout Examination) -> Refusal? {
        guard let text = examination.request.expiration else { return nil }
        guard let seconds = Int(text), seconds >= 0 else { return Refusal(.badExpirationDate) }
        return nil
    }

    private static func collapseID(_ examination: inout Examination) -> Refusal? {
        guard let id = examination.request.collapseID else { return nil }
        return id.utf8.count <= longestCollapseIDBytes ? nil : Refusal(.badCollapseID)
    }
}
