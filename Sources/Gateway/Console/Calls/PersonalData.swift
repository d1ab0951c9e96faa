import Crypto
import Foundation
package import Model

/// Masks what identifies people in answers of the native API, by the names of the members. This is the one place that does.
package struct PersonalData: Sendable {
    private static let mask = "•••"

    /// Members whose value names a person or a device of a person.
    private static let names: Set<String> = [
        "phone", "phones", "user", "users", "key", "keys", "token", "tokens", "address", "addresses", "aliases",
        "alias",
        "displayName", "email", "logKey",
        // Back ends store in them what they know about people.
        "attributes",
    ]
    /// Members that make a `name` next to them that of a person.
    private static let neighbours: Set<String> = ["phone", "user", "key", "tokenState", "identity", "label"]
    /// Paths whose members are contents for one person.
    private static let contents: Set<String> = [
        "title", "body", "subtitle", "image", "data", "texts", "payload", "url",
    ]

    /// Encrypts cursors that contain names of people: masked, they would continue nothing.
    private let cursors: SymmetricKey

    /// - Parameter key: 32 bytes of the gateway for this purpose.
    package init(key: [UInt8]) { cursors = SymmetricKey(data: key) }

    /// An answer without personal data.
    ///
    /// - Parameters:
    ///   - json: the body of the answer.
    ///   - path: the segments of the call's path.
    /// - Returns: the same answer, with the texts that identify people masked.
    package func masked(_ json: JSON, path: [String]) -> JSON {
        // Objects of these resources have keys and names of their own, which are not people's.
        if Self.isImpersonal(path) { return json }
        let masked = masked(json, isInbox: path.contains("inbox"), hasPeople: Self.listsPeople(path), depth: 0)
        // The content serves to send the message again. If any of it is masked, all of it is left out, because a mask must not be sent.
        guard path.count == 2, path[0] == "messages", case .object(var message) = masked,
            message["content"] != json["content"]
        else { return masked }
        message["content"] = .null
        return .object(message)
    }

    private static let impersonal: Set<String> = ["analytics", "credentials", "keys", "nodes", "queue", "webhooks"]

    /// Whether answers of a path contain nothing about people, in any form.
    package static func isImpersonal(_ path: [String]) -> Bool {
        // Templates are written for many recipients, and what an author reads of them is stored and sent again.
        if path.count > 2, path[0] == "apps", path[2] == "templates" { return true }
        return path.first.map { impersonal.contains($0) } ?? false
    }

    private static func listsPeople(_ path: [String]) -> Bool {
        ["users", "members", "expected-users"].contains { path.contains($0) }
    }

    private func masked(_ json: JSON, isInbox: Bool, hasPeople: Bool, depth: Int) -> JSON {
        // Answers are a few levels deep; deeper ones are data of callers.
        guard depth < 64 else { return .null }
        switch json {
        case .array(let values):
            return .array(values.map { masked($0, isInbox: isInbox, hasPeople: hasPeople, depth: depth + 1) })
        case .object(let object):
            let isPerson = object.pairs.contains { Self.neighbours.contains($0.key) }
            return .object(
                JSONObject(
                    object.pairs.map { (name, value) -> (String, JSON) in
                        if name == "next", hasPeople, case .string(let cursor) = value {
                            return (name, .string(sealed(cursor)))
                        }
                        if name == "subject", case .string(let subject) = value {
                            return (name, .string(Self.subject(subject)))
                        }
                        let hides =
                            Self.names.contains(name) || name == "name" && (isPerson || hasPeople)
                            || isInbox && Self.contents.contains(name)
                        return (
                            name,
                            hides
                                ? Self.hidden(value)
                                : masked(value, isInbox: isInbox, hasPeople: hasPeople, depth: depth + 1)
                        )
                    }
                )
            )
        default: return json
        }
    }

    /// The value with every text in it masked. Numbers, flags and null name nobody.
    private static func hidden(_ json: JSON) -> JSON {
        switch json {
        case .string(let text): .string(masked(text))
        case .array(let values): .array(values.map(hidden))
        case .object(let object): .object(JSONObject(object.pairs.map { ($0.key, hidden($0.value)) }))
        default: json
        }
    }

    /// The last four digits of a phone number, so that a caller can confirm it on the phone; of other texts nothing but the kind before a colon.
    static func masked(_ text: String) -> String {
        if text.isEmpty { return text }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, ["phone", "user", "key", "token"].contains(parts[0]) {
            return "\(parts[0]):\(masked(String(parts[1])))"
        }
        let digits = text.filter { $0.isASCII && $0.isNumber }
        let isPhone = digits.count >= 9 && digits.count <= 15 && digits.count + 4 >= text.count
        return isPhone ? mask + digits.suffix(4) : mask
    }

    /// The subject of an audit row: `user u-1` is a person, `app shop` is not.
    private static func subject(_ text: String) -> String {
        for kind in ["user ", "phone ", "token ", "device key "] where text.hasPrefix(kind) { return kind + mask }
        return text
    }

    // MARK: Cursors

    private static let cursorPrefix = "sealed-"

    private func sealed(_ cursor: String) -> String {
        guard let box = try? AES.GCM.seal(Array(cursor.utf8), using: cursors), let bytes = box.combined else {
            return ""
        }
        return Self.cursorPrefix + HexCoding.encode(bytes)
    }

    /// The cursor that a page sends back, as the native API made it. Nil: it was not made here.
    package func opened(_ cursor: String) -> String? {
        guard cursor.hasPrefix(Self.cursorPrefix) else { return cursor }
        guard let bytes = HexCoding.decode(String(cursor.dropFirst(Self.cursorPrefix.count))),
            let box = try? AES.GCM.SealedBox(combined: bytes), let plain = try? AES.GCM.open(box, using: cursors)
        else { return nil }
        return String(decoding: plain, as: UTF8.self)
    }
}
