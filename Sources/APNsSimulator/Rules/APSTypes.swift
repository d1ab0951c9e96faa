import Foundation

/// The documented type of each key of the `aps` dictionary.
///
/// Source: Apple, "Generating a remote notification" and "Starting and updating Live Activities …" (read 2026-11), docs/contracts/apns.md#10 and
/// docs/contracts/apns.md#17.
enum APSTypes {
    /// One sentence per key with an undocumented type or value, sorted.
    static func findings(in aps: [String: Any]) -> [String] {
        var findings: [String] = []
        for (name, value) in aps where !fits(name, value) {
            findings.append(
                known.contains(name)
                    ? "aps.\(name) has a type or value that Apple does not document"
                    : "aps.\(name) is not a key that Apple documents; custom keys belong next to aps"
            )
        }
        if let alert = aps["alert"] as? [String: Any] {
            for (name, value) in alert where !fitsAlert(name, value) {
                findings.append("aps.alert.\(name) has a name, type or value that Apple does not document")
            }
        }
        if let sound = aps["sound"] as? [String: Any], !fitsSound(sound) {
            findings.append("aps.sound has a name, type or value that Apple does not document")
        }
        return findings.sorted()
    }

    /// Whether a value is the number 1; JSON's `true` does not count.
    static func isOne(_ value: Any?) -> Bool { isInteger(value) && (value as? Int) == 1 }

    /// Whether a value is JSON's `true`.
    static func isTrue(_ value: Any?) -> Bool { isBoolean(value) && (value as? Bool) == true }

    /// Whether a value is a number without a fraction.
    static func isInteger(_ value: Any?) -> Bool { !isBoolean(value) && value is Int }

    private static let known: Set<String> = [
        "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content",
        "target-content-id", "interruption-level", "relevance-score", "filter-criteria", "stale-date",
        "content-state", "timestamp", "event", "dismissal-date", "attributes-type", "attributes", "input-push-token",
        "input-push-channel", "content-changed", "url-args",
    ]

    private static func fits(_ name: String, _ value: Any) -> Bool {
        switch name {
        case "alert", "sound": value is String || value is [String: Any]
        case "badge": isInteger(value) && (value as? Int ?? -1) >= 0
        case "relevance-score": isNumber(value)
        case "thread-id", "category", "target-content-id", "filter-criteria", "event", "attributes-type",
            "input-push-channel":
            value is String
        case "content-available", "mutable-content": isInteger(value) && [0, 1].contains(value as? Int)
        case "input-push-token": isOne(value)
        case "interruption-level":
            ["passive", "active", "time-sensitive", "critical"].contains(value as? String ?? "")
        case "stale-date", "timestamp", "dismissal-date": isInteger(value)
        case "content-state", "attributes": value is [String: Any]
        case "content-changed": isBoolean(value)
        case "url-args": value is [String]
        default: false
        }
    }

    private static func fitsAlert(_ name: String, _ value: Any) -> Bool {
        switch name {
        case "title", "subtitle", "body": value is String || value is [String: Any]
        case "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key", "action", "action-loc-key", "summary-arg":
            value is String
        case "title-loc-args", "subtitle-loc-args", "loc-args": value is [String]
        case "summary-arg-count": isInteger(value)
        case "sound": value is String || value is [String: Any]
        default: false
        }
    }

    private static func fitsSound(_ sound: [String: Any]) -> Bool {
        sound.allSatisfy { name, value in
            switch name {
            case "critical": isInteger(value) && [0, 1].contains(value as? Int)
            case "name": value is String
            case "volume": isNumber(value) && (0...1).contains(value as? Double ?? -1)
            default: false
            }
        }
    }

    private static func isNumber(_ value: Any?) -> Bool { !isBoolean(value) && value is Double }

    /// Foundation reads JSON's booleans as numbers as well; only their class distinguishes them.
    private static func isBoolean(_ value: Any?) -> Bool {
        guard let number = value as? NSNumber else { return false }
        return type(of: number) == type(of: NSNumber(value: true))
    }
}
