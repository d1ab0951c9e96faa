import FoundationEssentials
package import Model

/// The settings of an object that an act changed, with their values before and after, for the audit. Secrets are masked: the row says that they changed, and
/// nothing else about them. It is pure.
///
/// Members of objects are settings of their own (`platforms.ios.topic`); arrays are compared as a whole.
package struct SettingChanges: Sendable, Hashable {
    /// 32 settings per row, and 200 bytes per value: an audit is read by people, and rows stay below some kilobytes.
    package static let limit = 32
    package static let valueBytes = 200
    /// Shown in place of a secret.
    package static let mask = "***"

    private struct Change: Sendable, Hashable {
        var setting: String
        var before: JSON?
        var after: JSON?
    }

    private let changes: [Change]

    /// - Parameters:
    ///   - before: the settings before the act; nil: the object is new.
    ///   - after: the settings after it.
    ///   - isSecret: whether the setting of this name, or one of its members, is a secret.
    package init(from before: JSONObject?, to after: JSONObject, isSecret: (String) -> Bool = { _ in false }) {
        let (old, new) = (Self.flat(before ?? [:]), Self.flat(after))
        let names = Set(old.keys).union(new.keys).sorted()
        changes = names.filter { old[$0] != new[$0] }.map { name in
            let isHidden = isSecret(name) || Self.namesASecret(name)
            func shown(_ value: JSON?) -> JSON? { value.map { isHidden ? .string(Self.mask) : Self.short($0) } }
            return Change(setting: name, before: shown(old[name]), after: shown(new[name]))
        }
    }

    package var isEmpty: Bool { changes.isEmpty }

    /// `[{"setting", "before", "after"}]`; null stands for a missing value. If there are more than `limit`, the last entry has their number in `more`.
    package var json: JSON {
        var entries: [JSON] = changes.prefix(Self.limit).map { change in
            ["setting": .string(change.setting), "before": change.before ?? .null, "after": change.after ?? .null]
        }
        if changes.count > Self.limit { entries.append(["more": .int(changes.count - Self.limit)]) }
        return .array(entries)
    }

    /// The values after the act by setting, without removed ones.
    package var after: JSONObject {
        JSONObject(changes.compactMap { change in change.after.map { (change.setting, $0) } })
    }

    /// The scheme, host and port of a URL: path and query may contain a secret.
    package static func place(of url: String) -> String {
        guard let parts = URLComponents(string: url), let host = parts.host else { return "" }
        return (parts.scheme.map { "\($0)://" } ?? "") + host + (parts.port.map { ":\($0)" } ?? "")
    }

    // MARK: Values

    private static func flat(_ object: JSONObject) -> [String: JSON] {
        var result: [String: JSON] = [:]
        var open: [(String, JSON)] = object.pairs.map { ($0.key, $0.value) }
        while let (name, value) = open.popLast() {
            if let members = value.object {
                open += members.pairs.map { ("\(name).\($0.key)", $0.value) }
            } else if value != .null {
                result[name] = value
            }
        }
        return result
    }

    /// A setting whose name says that it is a secret is one, also where the caller does not know it.
    private static func namesASecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["secret", "password", "privatekey", "sealed"].contains { name.contains($0) }
    }

    private static func short(_ value: JSON) -> JSON {
        if let url = value.string, url.contains("://") { return .string(cut(place(of: url))) }
        if let text = value.string { return .string(cut(text)) }
        let text = JSONWriter.text(value)
        return text.utf8.count <= valueBytes ? value : .string(cut(text))
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > valueBytes else { return text }
        // Not in the middle of a character.
        var short = text.prefix(valueBytes)
        while short.utf8.count > valueBytes { short.removeLast() }
        return short + "…"
    }
}
