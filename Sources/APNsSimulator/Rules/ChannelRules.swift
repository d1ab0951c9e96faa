import Foundation

/// Rows 50 to 55: channel management, `/1/apps/<bundle>/channels` and `/all-channels`.
///
/// Source: Apple, "Sending channel management requests to APNs" (read 2026-11).
enum ChannelRules {
    /// The rows for one call, selected by its path and method.
    static func table(_ endpoint: Endpoint, method: String) -> [Rule] {
        switch (endpoint, method) {
        case (.channels, "POST"): app + create
        case (.channels, "DELETE"): app + BroadcastRules.channelHeader + delete
        case (.channels, _): app + BroadcastRules.channelHeader + read
        case (.allChannels, _): app + list
        case (.device, _), (.broadcast, _): []
        }
    }

    private static let app = [
        Rule(40, .documented, BroadcastRules.feature),
        Rule(41, .documented, BroadcastRules.bundleWithoutSuffix),
        Rule(42, .deduced, BroadcastRules.permission),
    ]

    private static let create = [
        Rule(25, .documented) { $0.request.bodyBytes == 0 ? RuleRefusal(.payloadEmpty) : nil },
        Rule(26, .documented) {
            $0.request.bodyBytes > RuleBook.longestPayloadBytes ? RuleRefusal(.payloadTooLarge) : nil
        },
        Rule(50, .documented, body),
        Rule(54, .documented, made),
    ]

    private static let read = [
        Rule(55, .documented) {
            let policy = $0.channel?.storesNewest == true ? 1 : 0
            $0.reply.body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
            return nil
        }
    ]

    private static let delete = [
        Rule(46, .observed) {
            guard let id = $0.request.channelID,
                $0.facts.channels.delete($0.endpoint.bundle ?? "", id)
            else { return RuleRefusal(.badPath) }
            $0.reply.status = 204
            return nil
        }
    ]

    private static let list = [
        Rule(55, .documented) {
            let ids = $0.facts.channels.list($0.endpoint.bundle ?? "").map { "\"\($0)\"" }
            $0.reply.body = #"{"channels":[\#(ids.joined(separator: ","))]}"#
            return nil
        }
    ]

    /// `{"message-storage-policy":0|1,"push-type":"LiveActivity"}`.
    private static func body(_ examination: inout Examination) -> RuleRefusal? {
        let json = try? JSONSerialization.jsonObject(with: Data(examination.request.body))
        guard let object = json as? [String: Any] else { return RuleRefusal(.badRequestPayload) }
        guard let type = object["push-type"] else { return RuleRefusal(.missingPushType) }
        guard (type as? String)?.lowercased() == SimulatedPushType.liveactivity.rawValue else {
            return RuleRefusal(.invalidPushType)
        }
        // Undocumented; one provider observed it for a policy that is absent or invalid.
        guard let policy = object["message-storage-policy"] as? Int, policy == 0 || policy == 1 else {
            return RuleRefusal(.missingChannelQueueSize)
        }
        let known: Set<String> = ["push-type", "message-storage-policy"]
        if !known.isSuperset(of: object.keys) { examination.findings.append("a channel with unknown fields") }
        examination.channel = BroadcastChannel(id: "", storesNewest: policy == 1)
        return nil
    }

    private static func made(_ examination: inout Examination) -> RuleRefusal? {
        let bundle = examination.endpoint.bundle ?? ""
        let storesNewest = examination.channel?.storesNewest ?? false
        guard let channel = examination.facts.channels.create(bundle, storesNewest) else {
            return RuleRefusal(.cannotCreateChannelConfig)
        }
        examination.reply = SuccessReply(status: 201, channelID: channel.id)
        return nil
    }
}
