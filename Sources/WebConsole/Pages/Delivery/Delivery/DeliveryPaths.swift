import Model
import PageParts

/// The paths of one delivery, in the order in which they were tried, each with its outcome.
enum DeliveryPaths {
    /// 8 paths of an answer are shown. A rule has two.
    private static let limit = 8

    /// Such as `old-braze: cannot name the target → apns: accepted`. Nil: the delivery took its first path, and the other facts say what became of it.
    static func text(_ delivery: JSON, _ words: Words) -> String? {
        let tried = (delivery["explanation"]?["tried"]?.array ?? []).prefix(limit)
        let steps = tried.compactMap { step -> (path: String, outcome: String)? in
            guard let path = Reading.text(step["path"], 60), let outcome = Reading.text(step["outcome"], 100) else {
                return nil
            }
            return (path, Self.outcome(outcome, words))
        }
        guard steps.count > 1 || steps.contains(where: { $0.path != carrier(delivery) }) else { return nil }
        return steps.map { "\($0.path): \($0.outcome)" }.joined(separator: " → ")
    }

    /// The path that carried the push, in the words of rules; nil: none did.
    private static func carrier(_ delivery: JSON) -> String? {
        guard let transport = Reading.text(delivery["transport"], 80) else { return nil }
        guard transport.hasPrefix(CredentialID.upstreamPrefix) else { return transport }
        return String(transport.dropFirst(CredentialID.upstreamPrefix.count))
    }

    private static func outcome(_ outcome: String, _ words: Words) -> String {
        if let known = outcomes[outcome] { return words(known) }
        guard DeliveryState(rawValue: outcome) == nil else { return words(StateWords.delivery(outcome)) }
        return ReasonWords.name(outcome, words.language)
    }

    /// The words of outcomes that are neither states of a delivery nor reasons.
    static let outcomes: [String: Text] = [
        DeliveryState.sent.rawValue: Text(ko: "접수됨", en: "accepted"),
        "uncertain": Text(ko: "결과 미확인", en: "uncertain"),
        "noToken": Text(ko: "토큰 없음", en: "no token"),
        "noCredential": Text(ko: "인증서·키 없음", en: "no credential"),
        "noDevice": Text(ko: "대상을 지정할 수 없음", en: "cannot name the target"),
        "credentialRefused": Text(ko: "인증서·키 거절됨", en: "credential refused"),
        "outOfOrder": Text(ko: "연결 장애", en: "out of order"),
    ]
}
