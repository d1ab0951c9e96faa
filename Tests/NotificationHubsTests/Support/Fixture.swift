import Crypto
import Foundation
import HTTPTypes
import Model
import Testing

/// One documented example: the bytes of a fenced block of the contract, copied and never produced by this project's
/// encoder.
enum Fixture {
    /// The text of the fixture `name`, without the newline that ends the file.
    static func text(_ name: String) throws -> String {
        let root = try #require(Bundle.module.resourceURL)
        let text = try String(contentsOf: root.appendingPathComponent("Fixtures/\(name)"), encoding: .utf8)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    /// Sixty-four digits for the shortened `0A1B2C…64 hex…` of the documents.
    static let token = "0A1B2C" + String(repeating: "0123456789", count: 5) + "ABCDEFAB"

    /// Head and body of an example of HTTP.
    static func message(_ name: String) throws -> (line: String, headers: [(String, String)], body: String) {
        let text = try text(name).replacing("0A1B2C…64 hex…", with: token).replacing("0A1B2C…", with: token)
        let end = text.firstRange(of: "\n\n")
        let head = (end.map { text[..<$0.lowerBound] } ?? text[...]).split(separator: "\n").map(String.init)
        let headers = head.dropFirst().compactMap { line -> (String, String)? in
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        return (try #require(head.first), headers, end.map { String(text[$0.upperBound...]) } ?? "")
    }

    /// A documented request, addressed to the documented host, and signed if the document shortens the signature.
    static func request(_ name: String) throws -> VendorRequest {
        let message = try message(name)
        let words = message.line.split(separator: " ").map(String.init)
        var headers: [String: String] = [:]
        for (name, value) in message.headers where name != "Authorization" && name != "Host" { headers[name] = value }
        let parts = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        return Mount.request(
            try #require(HTTPRequest.Method(words[0])),
            parts[0],
            query: parts.count > 1 ? parts[1] : nil,
            headers: headers,
            message.body
        )
    }
}

/// An independent implementation of the vendor's published signature algorithm
/// (docs/contracts/notificationhubs.md#3.2).
struct Signer {
    var name = "DefaultFullSharedAccessSignature"
    var key = Mount.fullKey
    var resource = "https%3a%2f%2fgw.example.com%2fhub1"
    var expiry: Int64 = 1_893_456_000

    var signature: String {
        let text = "\(resource)\n\(expiry)"
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: Data(key.utf8)))
        return Data(code).base64EncodedString()
    }

    var header: String {
        let escaped = signature.replacing("+", with: "%2b").replacing("/", with: "%2f").replacing("=", with: "%3d")
        return "SharedAccessSignature sr=\(resource)&sig=\(escaped)&se=\(expiry)&skn=\(name)"
    }
}
