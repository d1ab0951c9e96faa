import Foundation

/// Rows 25 to 27: the body.
enum PayloadRules {
    static let all = [
        Rule(25, .documented) { $0.request.bodyBytes == 0 ? Refusal(.payloadEmpty) : nil },
        Rule(26, .documented, size),
        Rule(27, .deduced, content),
    ]

    private static func size(_ examination: inout Examination) -> Refusal? {
        let limit = examination.pushType?.longestPayloadBytes ?? PushType.alert.longestPayloadBytes
        return examination.request.bodyBytes > limit ? Refusal(.payloadTooLarge) : nil
    }

    /// Apple's answer to a body that is not a notification is unknown: it is accepted with a finding, unless set otherwise.
    private static func content(_ examination: inout Examination) -> Refusal? {
        let findings = findings(in: examination.request.body, type: examination.pushType)
        examination.findings += findings
        return examination.settings.refusesUndeliverablePayloads && !findings.isEmpty ? Refusal(.payloadEmpty) : nil
    }

    /// What a device would not show or not understand. Source of the types: Apple, "Generating a remote notification".
    static func findings(in body: [UInt8], type: PushType?) -> [String] {
        guard let json = try? JSONSerialization.jsonObject(with: Data(body)) else { return ["the body is not JSON"] }
        guard let object = json as? [String: Any] else { return ["the body is not a JSON object"] }
        if type == .mdm {
            return object["mdm"] is String ? [] : ["an mdm push without an mdm string"]
        }
        guard let aps = object["aps"] as? [String: Any] else { return ["the body has no aps object"] }
        var findings = typeFindings(aps)
        switch type {
        case .background:
            if ["alert", "badge", "sound"].contains(where: { aps[$0] != nil }) {
                findings.append("a background push with alert, badge or sound")
            }
            if (aps["content-available"] as? Int) != 1 {
                findings.append("a background push without content-available 1")
            }
        case .liveactivity:
            findings += liveActivityFindings(aps)
        case .alert, .voip, .complication, .fileprovider, .mdm, .location, .pushtotalk, .widgets, .controls, nil:
            break
        }
        return findings
    }

    private static func typeFindings(_ aps: [String: Any]) -> [String] {
        aps.compactMap { name, value -> String? in
            let fits =
                switch name {
                case "alert", "sound": value is String || value is [String: Any]
                case "badge", "relevance-score": value is Double
                case "thread-id", "category", "target-content-id": value is String
                case "content-available", "mutable-content": (value as? Int) == 1 || (value as? Int) == 0
                case "interruption-level":
                    ["passive", "active", "time-sensitive", "critical"].contains(value as? String ?? "")
                default: true
                }
            return fits ? nil : "aps.\(name) has a type or value that Apple does not document"
        }.sorted()
    }

    private static func liveActivityFindings(_ aps: [String: Any]) -> [String] {
        var findings: [String] = []
        if !(aps["timestamp"] is Int) { findings.append("a live activity without a timestamp") }
        let event = aps["event"] as? String ?? ""
        if !["start", "update", "end"].contains(event) {
            findings.append("a live activity without event start, update or end")
        }
        if event != "end", !(aps["content-state"] is [String: Any]) {
            findings.append("a live activity without content-state")
        }
        return findings
    }
}
