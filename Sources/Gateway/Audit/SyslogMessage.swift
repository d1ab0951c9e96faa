import Model
import Store

/// Writes rows of the audit as messages of RFC 5424. It is pure.
///
/// The message is the JSON object of `audit.file`; tenant and position in it identify a row that arrives twice.
struct SyslogMessage: Sendable {
    /// Facility 13, "log audit".
    private static let facility = 13
    /// Severities: notice, and warning for refused proofs.
    private static let notice = 5
    private static let warning = 4
    private static let program = "push-gateway"

    private let host: String
    private let process: String

    /// - Parameters:
    ///   - host: the name of this machine.
    ///   - process: the id of this process.
    init(host: String, process: Int32) {
        self.host = Self.word(host, limit: 255)
        self.process = "\(process)"
    }

    /// One message, without framing.
    func text(_ link: AuditLink, _ tenant: TenantID) -> String {
        let severity = link.action == AuditAction.refuse.rawValue ? Self.warning : Self.notice
        let at = Timestamp(milliseconds: link.micros / 1000).rfc3339
        let header = [
            "<\(Self.facility * 8 + severity)>1", at, host, Self.program, process, Self.word(link.action, limit: 32),
            "-",
        ]
        return header.joined(separator: " ") + " " + AuditFileService.object(link, tenant)
    }

    /// A message of a stream: its length in bytes comes first (RFC 6587, octet counting).
    func frame(_ link: AuditLink, _ tenant: TenantID) -> String {
        let text = text(link, tenant)
        return "\(text.utf8.count) \(text)"
    }

    /// Printable ASCII without spaces; `-` stands for nothing.
    private static func word(_ text: String, limit: Int) -> String {
        let word = String(decoding: text.utf8.filter { (33...126).contains($0) }.prefix(limit), as: UTF8.self)
        return word.isEmpty ? "-" : word
    }
}
