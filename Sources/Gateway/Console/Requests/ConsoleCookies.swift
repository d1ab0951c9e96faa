package import HTTPTypes

/// The cookies of the console. The session's has the prefix `__Host-`: a browser accepts it only from this host, over a secure connection or from the machine
/// itself, and sends it nowhere else.
package enum ConsoleCookies {
    package static let session = "__Host-session"
    static let language = "__Host-language"
    static let theme = "__Host-theme"

    /// 8 KiB of headers and 64 cookies are read; the rest counts as absent.
    private static let limitBytes = 8 << 10
    private static let limit = 64

    /// The value of a cookie. Nil: it is absent, or given more than once with several values.
    package static func value(_ name: String, in headers: HTTPFields) -> String? {
        var found: String?
        let lines = headers[values: .cookie]
        guard lines.reduce(0, { $0 + $1.utf8.count }) <= limitBytes else { return nil }
        for line in lines {
            for pair in line.split(separator: ";", maxSplits: limit, omittingEmptySubsequences: true) {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, trimmed(parts[0]) == name else { continue }
                let value = trimmed(parts[1])
                guard found == nil || found == value else { return nil }
                found = value
            }
        }
        return found
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }

    /// The header that sets the session: until the browser ends. `SameSite=Strict` would sign out people who follow a link from a chat.
    package static func setSession(_ value: String) -> String {
        "\(session)=\(value); Path=/; Secure; HttpOnly; SameSite=Lax"
    }

    static let endSession = "\(session)=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0"

    /// The header that keeps a choice of the person for a year. `value` is a word of the console.
    static func keep(_ name: String, _ value: String) -> String {
        "\(name)=\(value); Path=/; Secure; SameSite=Lax; Max-Age=31536000"
    }
}
