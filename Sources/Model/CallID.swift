package import FoundationEssentials

/// The identifier of one call: in its response (`X-Request-Id`), in native problems, in its log lines and in its rows of the audit.
///
/// The caller's own is accepted if it is safe to log and to echo; otherwise the listener generates one.
package struct CallID: Sendable, Hashable, CustomStringConvertible {
    /// 128 bytes: room for the identifiers of common proxies and libraries, and a log line stays short.
    package static let lengthLimit = 128

    package let description: String

    /// The caller's text. Nil, unless it has 1 to 128 visible ASCII characters: other text could forge log lines or break the header of the response.
    package init?(_ text: String) {
        guard (1...Self.lengthLimit).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        description = text
    }

    package init(_ id: UUID) { description = id.lowercased }

    /// The request that the current task works for. Nil: the task works for no call. Set by the listener; read by what reports about the call (logs, problems
    /// and the audit) and by nothing that decides.
    @TaskLocal package static var current: CallID?
}
