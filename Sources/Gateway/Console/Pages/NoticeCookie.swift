import Crypto
import HTTPTypes
import Model

/// The notice of a form, kept from its answer to the page that follows. It is signed with the session, so that no link can make the console say something.
enum NoticeCookie {
    private static let name = "__Host-notice"
    /// 300 characters: a sentence or two.
    private static let limit = 300

    /// The header that keeps a notice for the next page.
    static func set(_ text: String, session secret: String) -> String {
        let bytes = Array(String(text.prefix(limit)).utf8)
        return
            "\(name)=\(HexCoding.encode(bytes)).\(code(bytes, secret)); Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=60"
    }

    static let clear = "\(name)=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0"

    /// The notice that a request brings; nil: none, or not ours.
    static func text(_ headers: HTTPFields, session secret: String) -> String? {
        guard let value = ConsoleCookies.value(name, in: headers) else { return nil }
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = HexCoding.decode(String(parts[0])), code(bytes, secret) == parts[1] else {
            return nil
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func code(_ bytes: [UInt8], _ secret: String) -> String {
        let key = SymmetricKey(data: Array(secret.utf8))
        return HexCoding.encode(HMAC<SHA256>.authenticationCode(for: Array("notice".utf8) + bytes, using: key))
    }
}
