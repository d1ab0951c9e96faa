/// Rows 22 to 24 and 28: the device token, of which the simulator knows what was scripted.
enum DeviceRules {
    static let registry = [
        Rule(22, .documented, deviceToken),
        Rule(23, .documented) { scripted(&$0) { $0 == 400 } },
        Rule(24, .documented) { scripted(&$0) { $0 == 410 } },
    ]

    static let rate = [
        Rule(28, .documented) {
            $0.devices.isOverRate($0.deviceToken, $0.now) ? Refusal(.tooManyRequests) : nil
        },
        Rule(35, .deduced) { scripted(&$0) { $0 != 200 } },
    ]

    /// Length is free: Apple asks never to hard-code one.
    private static func deviceToken(_ examination: inout Examination) -> Refusal? {
        let bytes = examination.deviceToken.utf8
        guard bytes.count.isMultiple(of: 2), bytes.allSatisfy(EnvelopeRules.isHexDigit) else {
            return Refusal(.badDeviceToken)
        }
        examination.scripted = examination.devices.scriptedAnswer(examination.deviceToken)
        return nil
    }

    private static func scripted(_ examination: inout Examination, when isDue: (Int) -> Bool) -> Refusal? {
        guard let answer = examination.scripted, let status = answer.status, isDue(status) else { return nil }
        return Refusal(
            status: status,
            reason: answer.reason ?? "",
            timestamp: answer.timestamp ?? (status == 410 ? examination.now * 1000 : nil),
            retryAfter: answer.retryAfter
        )
    }
}
