/// Rows 22 to 24 and 28: the device token, according to the script and the registered devices.
enum DeviceRules {
    static let registry = [
        Rule(22, .documented, deviceToken),
        Rule(22, .documented, environment),
        Rule(23, .documented, bundle),
        Rule(23, .documented) { scripted(&$0) { $0 == 400 } },
        Rule(24, .documented, state),
        Rule(24, .documented) { scripted(&$0) { $0 == 410 } },
    ]

    static let rate = [
        Rule(28, .documented) {
            $0.facts.isOverRate($0.deviceToken, $0.now) ? RuleRefusal(.tooManyRequests) : nil
        }
    ]

    /// Other scripted answers, which come after all rules.
    static let trouble = [Rule(35, .deduced) { scripted(&$0) { $0 != 200 } }]

    /// Checks the device token. Any length is accepted unless one is configured: Apple asks clients never to rely on a length.
    private static func deviceToken(_ examination: inout Examination) -> RuleRefusal? {
        let bytes = examination.deviceToken.utf8
        guard bytes.count.isMultiple(of: 2), bytes.allSatisfy(\.isHexDigit) else {
            return RuleRefusal(.badDeviceToken)
        }
        if let length = examination.settings.deviceTokenBytes, bytes.count != length * 2 {
            return RuleRefusal(.badDeviceToken)
        }
        examination.scripted = examination.facts.scriptedAnswer(examination.deviceToken)
        return nil
    }

    private static func environment(_ examination: inout Examination) -> RuleRefusal? {
        guard let device = examination.facts.device(examination.deviceToken) else {
            return examination.settings.knowsEveryDevice ? RuleRefusal(.badDeviceToken) : nil
        }
        let environment = device.environment ?? examination.settings.environment
        return environment == examination.settings.environment ? nil : RuleRefusal(.badDeviceToken)
    }

    private static func bundle(_ examination: inout Examination) -> RuleRefusal? {
        guard let bundle = examination.facts.device(examination.deviceToken)?.bundle else { return nil }
        let own = examination.topic.dropLast(SimulatedPushType.suffix(of: examination.topic).count)
        return own == bundle || examination.topic == bundle ? nil : RuleRefusal(.deviceTokenNotForTopic)
    }

    private static func state(_ examination: inout Examination) -> RuleRefusal? {
        guard let device = examination.facts.device(examination.deviceToken) else { return nil }
        let timestamp = device.timestamp ?? examination.now &* 1000
        return switch device.state {
        case .active: nil
        case .unregistered: RuleRefusal(.unregistered, timestamp: timestamp)
        case .expired: RuleRefusal(.expiredToken, timestamp: timestamp)
        }
    }

    private static func scripted(_ examination: inout Examination, when isDue: (Int) -> Bool) -> RuleRefusal? {
        guard let answer = examination.scripted, let status = answer.status, isDue(status) else { return nil }
        return RuleRefusal(
            status: status,
            reason: answer.reason ?? "",
            timestamp: answer.timestamp ?? (status == 410 ? examination.now &* 1000 : nil),
            retryAfter: answer.retryAfter
        )
    }
}
