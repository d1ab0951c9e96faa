import GatewayHTTP
import Model
import NIOConcurrencyHelpers
import Store

/// The trace of an operation's calls in the audit.
enum AuditedCall: Sendable, Hashable {
    /// Nothing: it returns neither content nor facts about people, and changes no setting.
    case no
    /// A row of its own, written in the transaction of the act.
    case act
    /// A row for each call: it returns content or facts about people.
    case read
    /// A row for each call that returns something. Readers repeat these calls to wait for more, and an empty page says nothing about anybody.
    case found

    var isRead: Bool { self == .read || self == .found }
}

/// The objects that an audited read looked up: the subjects of its rows, and their data. The rows name an object as the caller named it.
///
/// A user, a phone number, the key of a device and a token identify people. The audit stores pseudonyms of these subjects (`write_audit`), and the data contains
/// none of them.
struct ReadSubjects: Sendable, Hashable {
    /// 128 bytes of a name in the data: longer ones are not names of this gateway.
    private static let nameBytes = 128

    let subjects: [String]
    /// By the name of the input: names that identify no person.
    let details: JSONObject

    init(_ values: InputValues<some InputFields>, tenant: TenantID) {
        var people: [String] = []
        if let user = values.text("user") { people.append("user \(user)") }
        if let phone = values.text("phone") { people.append("phone \(phone.filter(\.isNumber))") }
        if let key = values.text("key") { people.append("device-key \(key)") }
        if let token = values.text("token") { people.append("token \(token)") }
        if let text = values.text("value").flatMap({ FindText($0) }) { people += text.people }
        var details = JSONObject()
        for name in ["app", "vendor", "group", "target", "state", "format"] {
            if let text = values.text(name) { details[name] = .string(Self.name(text)) }
        }
        self.details = details
        let objects = ["device", "message", "capture"].compactMap { kind in
            values.text(kind).map { "\(kind) \(Self.name($0).lowercased())" }
        }
        let place = values.text("app").map { "app \(Self.name($0))" } ?? "tenant \(tenant)"
        subjects = (people.isEmpty ? (objects.first.map { [$0] } ?? [place]) : people).map(Self.storable)
    }

    /// The rows of one call.
    ///
    /// - Parameters:
    ///   - operation: the operation's id.
    ///   - count: the number of returned objects; nil: it is not known when the row is written.
    ///   - found: further subjects, which name no person.
    /// - Returns: a row per subject.
    func records(of operation: String, count: Int?, found: [String] = []) -> [AuditRecord] {
        var data: JSONObject = ["operation": .string(operation)]
        for (name, value) in details.pairs { data[name] = value }
        data["count"] = count.map { .int($0) }
        return (subjects + found).map { AuditRecord(.read, $0, data: .object(data)) }
    }

    private static func name(_ text: String) -> String { String(decoding: text.utf8.prefix(nameBytes), as: UTF8.self) }

    /// PostgreSQL stores no NUL.
    private static func storable(_ text: String) -> String { text.filter { $0 != "\0" } }
}

/// The number of objects that a call returns. The operation sets it; one call uses it.
final class FoundCount: Sendable {
    private struct Found {
        var count: Int?
        var subjects: [String] = []
    }

    private let value = NIOLockedValueBox(Found())

    var count: Int? { value.withLockedValue { $0.count } }
    /// The subjects that the call named without saying what they are. They name no person.
    var subjects: [String] { value.withLockedValue { $0.subjects } }

    func set(_ count: Int, subjects: [String] = []) {
        value.withLockedValue { $0 = Found(count: count, subjects: subjects) }
    }
}
