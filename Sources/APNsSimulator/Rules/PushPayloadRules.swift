import Foundation

/// Rows 25 to 27: the body.
enum PushPayloadRules {
    static let all = [
        Rule(25, .documented) { $0.request.bodyBytes == 0 ? RuleRefusal(.payloadEmpty) : nil },
        Rule(26, .documented, size),
        Rule(27, .deduced, content),
    ]

    private static func size(_ examination: inout Examination) -> RuleRefusal? {
        let limit =
            examination.endpoint == .device
            ? examination.pushType?.longestPayloadBytes ?? SimulatedPushType.alert.longestPayloadBytes
            : RuleBook.longestPayloadBytes
        return examination.request.bodyBytes > limit ? RuleRefusal(.payloadTooLarge) : nil
    }

    /// Apple's answer to a body that is not a notification is unknown. It is accepted with a finding, unless configured otherwise.
    private static func content(_ examination: inout Examination) -> RuleRefusal? {
        let isBroadcast = examination.endpoint != .device
        let findings = findings(
            in: examination.request.body,
            type: examination.pushType,
            isBroadcast: isBroadcast
        )
        examination.findings += findings
        guard examination.settings.refusesUndeliverablePayloads, !findings.isEmpty else { return nil }
        return RuleRefusal(isBroadcast ? .badRequestPayload : .payloadEmpty)
    }

    /// The faults because of which a device would not show or not understand the push. Source of the types: Apple, "Generating a remote notification".
    static func findings(in body: [UInt8], type: SimulatedPushType?, isBroadcast: Bool = false) -> [String] {
        guard let json = try? JSONSerialization.jsonObject(with: Data(body)) else { return ["the body is not JSON"] }
        guard let object = json as? [String: Any] else { return ["the body is not a JSON object"] }
        if type == .mdm {
            return object["mdm"] is String ? [] : ["an mdm push without an mdm string"]
        }
        guard let aps = object["aps"] as? [String: Any] else { return ["the body has no aps object"] }
        var findings = APSTypes.findings(in: aps)
        switch type {
        case .background:
            if ["alert", "badge", "sound"].contains(where: { aps[$0] != nil }) {
                findings.append("a background push with alert, badge or sound")
            }
            if !APSTypes.isOne(aps["content-available"]) {
                findings.append("a background push without content-available 1")
            }
        case .liveactivity:
            findings += liveActivityFindings(aps, isBroadcast: isBroadcast)
        case .widgets, .controls:
            if !APSTypes.isTrue(aps["content-changed"]) {
                findings.append("a widget push without content-changed true")
            }
        case .alert:
            if ["alert", "badge", "sound"].allSatisfy({ aps[$0] == nil }) {
                findings.append("an alert push without alert, badge or sound")
            }
        case .voip, .complication, .fileprovider, .mdm, .location, .pushtotalk, nil:
            break
        }
        return findings
    }

    /// The findings for a Live Activity. Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications", docs/contracts/apns.md#10.
    private static func liveActivityFindings(_ aps: [String: Any], isBroadcast: Bool) -> [String] {
        var findings: [String] = []
        if !APSTypes.isInteger(aps["timestamp"]) { findings.append("a live activity without a timestamp") }
        let event = aps["event"] as? String ?? ""
        if !["start", "update", "end"].contains(event) {
            findings.append("a live activity without event start, update or end")
        }
        if event == "start", isBroadcast { findings.append("a broadcast cannot start a live activity") }
        if event != "end", !(aps["content-state"] is [String: Any]) {
            findings.append("a live activity without content-state")
        }
        if event == "start" {
            if !(aps["attributes-type"] is String) { findings.append("a start without attributes-type") }
            if !(aps["attributes"] is [String: Any]) { findings.append("a start without attributes") }
            if aps["alert"] == nil { findings.append("a start without alert") }
        }
        return findings
    }
}
