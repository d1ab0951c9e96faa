import Crypto
import FoundationEssentials
import Model

/// A shared access signature in a request: `SharedAccessSignature sr=…&sig=…&se=…&skn=…`, in any order.
///
/// Source: docs/contracts/notificationhubs.md#3.1 and docs/contracts/notificationhubs.md#3.2. The resource is verified as received, because each SDK
/// escapes it differently.
struct SharedAccessSignature: Hashable {
    /// As received, not decoded.
    let resource: String
    /// Base64, after percent-decoding.
    let signature: String
    /// As received, because this spelling is signed.
    let expiryText: String
    let expiry: Timestamp
    let keyName: String

    /// - Throws: `AccessFault.missing` for an empty header, `.malformed` for an unreadable one.
    init(_ header: String) throws(AccessFault) {
        guard !header.isEmpty else { throw .missing }
        guard header.utf8.count <= HubsLimits.authorizationBytes else { throw .malformed }
        let words = header.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "sharedaccesssignature" else { throw .malformed }
        var values: [String: Substring] = [:]
        for pair in words[1].split(separator: "&", omittingEmptySubsequences: false) {
            // Some clients do not escape the padding of the signature.
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Self.names.contains(String(parts[0])) else { throw .malformed }
            guard values.updateValue(parts[1], forKey: String(parts[0])) == nil else { throw .malformed }
        }
        guard let resource = values["sr"], !resource.isEmpty,
            let signature = values["sig"].flatMap({ PercentCoding.decode($0.utf8, plusIsSpace: false) }),
            let name = values["skn"].flatMap({ PercentCoding.decode($0.utf8, plusIsSpace: false) }), !name.isEmpty,
            let end = values["se"], (1...12).contains(end.utf8.count),
            end.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }), let seconds = Int64(end)
        else { throw .malformed }
        self.resource = String(resource)
        self.signature = signature
        expiryText = String(end)
        expiry = Timestamp(seconds: seconds)
        keyName = name
    }

    private static let names: Set = ["sr", "sig", "se", "skn"]

    /// Whether the signature was made with this key. The key is the text itself, not the bytes that it encodes in base64.
    ///
    /// The texts are compared completely: two base64 spellings of the same bytes are two different signatures.
    func isSigned(with key: [UInt8]) -> Bool {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(resource)\n\(expiryText)".utf8),
            using: SymmetricKey(data: key)
        )
        let expected = Array(Data(code).base64EncodedString().utf8)
        let shown = Array(signature.utf8)
        guard expected.count == shown.count else { return false }
        return zip(expected, shown).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static let userField = "user="

    /// The user to whom the gateway restricted the token: `…/installations/{id}?user=…`. Nil: the token names none.
    var user: String? {
        guard let decoded = PercentCoding.decode(resource.utf8, plusIsSpace: false),
            let mark = decoded.firstIndex(of: "?")
        else { return nil }
        let query = decoded[decoded.index(after: mark)...]
        guard query.hasPrefix(Self.userField) else { return nil }
        return String(query.dropFirst(Self.userField.count))
    }

    /// A header for an installation, optionally restricted to a user. Its characters need no escape inside the resource.
    static func header(for grant: DeviceGrant, hub: String, rule: String, key: [UInt8]) -> String {
        let user = grant.user.map { "?\(userField)\($0)" } ?? ""
        let url = "https://\(grant.host)/\(hub)/installations/\(grant.device)\(user)"
        return header(for: url, rule: rule, key: key, until: grant.expiresAt)
    }

    /// A header for a resource and everything below it.
    static func header(for url: String, rule: String, key: [UInt8], until end: Timestamp) -> String {
        let resource = PercentCoding.encode(url)
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(resource)\n\(end.seconds)".utf8),
            using: SymmetricKey(data: key)
        )
        let signature = PercentCoding.encode(Data(code).base64EncodedString())
        return
            "SharedAccessSignature sr=\(resource)&sig=\(signature)&se=\(end.seconds)&skn=\(PercentCoding.encode(rule))"
    }

    /// Whether the resource is `host` and `path`, or a prefix of them that ends at a segment boundary (docs/contracts/notificationhubs.md#3.2).
    func covers(host: String, path: [String]) -> Bool {
        guard let decoded = PercentCoding.decode(resource.utf8, plusIsSpace: false)?.lowercased() else { return false }
        let rest = decoded.firstRange(of: "://").map { decoded[$0.upperBound...] } ?? decoded[...]
        let bare = rest.prefix { $0 != "?" && $0 != "#" }
        var parts = bare.split(separator: "/").map(String.init)
        guard let named = parts.first, VendorRequest.bareHost(named) == host else { return false }
        parts.removeFirst()
        return path.starts(with: parts)
    }
}
