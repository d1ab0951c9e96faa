import Adapters
import Foundation
import HTTPTypes
import Model

/// Masks the requests of a vendor's caller and their answers: names, types and lengths stay, so that they can be studied; secrets are removed. Pure, total, and
/// linear in its input.
struct CaptureMask: Sendable {
    /// 256 KiB: of a longer body only the length is kept. No vendor's contract needs more to be understood.
    static let bodyLimitBytes = 256 << 10
    /// 512 fields of a form, 64 headers, 64 parts, 64 segments: fields beyond these are only counted.
    static let fieldLimit = 512
    static let headerLimit = 64
    /// 2 KiB of a path or a query, after masking.
    static let lineLimitBytes = 2048

    let values: ValueMask

    /// The field names of the product's vendors.
    private static let productNames = KeyClass.names(of: VendorCatalog.product)

    /// Creates a mask. Without `names`, the names of the product's vendors apply.
    init(keepsTexts: Bool, names: [String: KeyClass] = Self.productNames) {
        values = ValueMask(keepsTexts: keepsTexts, names: names)
    }

    // MARK: Bodies

    /// Returns the masked body, in at most `limit` bytes. The bytes decide how it is parsed; the content type is used only when they do not.
    func body(_ bytes: [UInt8], contentType: String?, limit: Int) -> String {
        guard !bytes.isEmpty else { return "" }
        guard bytes.count <= Self.bodyLimitBytes else { return "<bytes \(bytes.count)>" }
        return Self.cut(whole(bytes, contentType), limit)
    }

    private func whole(_ bytes: [UInt8], _ contentType: String?) -> String {
        if let json = try? JSONParser.parse(bytes) { return JSONWriter.text(top(json)) }
        let type = contentType ?? ""
        if type.lowercased().hasPrefix("multipart/"), let boundary = Self.boundary(type) {
            return MultipartMask(mask: self).body(bytes, boundary: boundary)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: Self.isControl)
        else { return "<bytes \(bytes.count)>" }
        let trimmed = text.drop { $0.isWhitespace }
        if trimmed.first == "<" { return XMLMask(values: values).text(Array(text.unicodeScalars)) }
        if type.lowercased().contains("urlencoded") || Self.looksLikeForm(text) { return form(text) }
        return trimmed.first == "{" || trimmed.first == "["
            ? "<unreadable json \(bytes.count)>" : values.text(text, .plain)
    }

    /// Masks a top-level text as a value, and any other JSON by its fields.
    private func top(_ json: JSON) -> JSON { values.json(json) }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && scalar.value != 0x09 && scalar.value != 0x0A && scalar.value != 0x0D
    }

    private static func looksLikeForm(_ text: String) -> Bool {
        guard let end = text.unicodeScalars.firstIndex(of: "=") else { return false }
        return Shape.isName(Array(text.unicodeScalars[..<end].prefix(64)))
    }

    static func boundary(_ contentType: String) -> [UInt8]? {
        for part in contentType.split(separator: ";").dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].trimmingCharacters(in: .whitespaces).lowercased() == "boundary" else {
                continue
            }
            let value = pair[1].trimmingCharacters(in: CharacterSet(charactersIn: " \"\t"))
            // RFC 2046 §5.1.1: 1 to 70 characters.
            return (1...70).contains(value.utf8.count) ? Array(value.utf8) : nil
        }
        return nil
    }

    // MARK: Forms and queries

    func query(_ text: String?) -> String? { text.map { Self.cut(form($0), Self.lineLimitBytes) } }

    /// The names and masked values of a form, decoded, in their order.
    private func form(_ text: String) -> String {
        let fields = text.split(separator: "&", omittingEmptySubsequences: false)
        var out = fields.prefix(Self.fieldLimit).map { field -> String in
            let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.decoded(pair.first.map(String.init) ?? "")
            guard pair.count == 2 else { return name.isEmpty ? "" : values.text(name, .plain) }
            return shown(name) + "=" + value(Self.decoded(String(pair[1])), values.kind(of: name))
        }
        if fields.count > Self.fieldLimit { out.append("<\(fields.count - Self.fieldLimit) more>") }
        return out.joined(separator: "&")
    }

    /// A doubly encoded value is decoded twice, because it may contain JSON.
    private func value(_ text: String, _ kind: KeyClass) -> String {
        guard text.hasPrefix("%"), case let again = Self.decoded(text), again != text else {
            return values.text(text, kind)
        }
        return values.text(again, kind)
    }

    func shown(_ name: String) -> String {
        let scalars = Array(name.unicodeScalars)
        return Shape.isName(scalars) ? name : "<key \(scalars.count)>"
    }

    private static func decoded(_ text: String) -> String {
        let spaced = String(text.map { $0 == "+" ? " " : $0 })
        return spaced.removingPercentEncoding ?? text
    }

    // MARK: Path and headers

    /// Masks a path: names stay, ids do not: `/ipns/getMsgs`, `/v1/<hex 32>`.
    func path(_ text: String) -> String {
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).prefix(Self.headerLimit)
        let masked = segments.map { segment -> String in
            guard !segment.isEmpty else { return "" }
            let name = String(segment).removingPercentEncoding ?? String(segment)
            let scalars = Array(name.unicodeScalars)
            let parts = scalars.split { ".-_".unicodeScalars.contains($0) }
            let isName = Shape.isName(scalars) && parts.allSatisfy { $0.count <= 20 }
            return isName ? name : values.text(name, .plain)
        }
        return Self.cut(masked.joined(separator: "/"), Self.lineLimitBytes)
    }

    /// Headers whose values describe a call and do not identify anybody.
    private static let shownHeaders: Set = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "connection", "content-encoding",
        "content-length", "content-type", "transfer-encoding", "user-agent",
    ]
    private static let schemes: Set = ["bearer", "basic", "digest", "sharedaccesssignature", "key"]

    /// Masks headers: all names in their order, the values of a few headers, and the scheme of an authorization.
    func headers(_ fields: HTTPFields) -> JSON {
        .array(
            fields.prefix(Self.headerLimit).map { field in
                let name = field.name.canonicalName
                var value = JSON.null
                if Self.shownHeaders.contains(name) {
                    value = .string(Self.cut(TextScrub.scrub(Array(field.value.unicodeScalars.prefix(256))), 256))
                } else if name == "authorization", let scheme = field.value.split(separator: " ").first,
                    Self.schemes.contains(scheme.lowercased())
                {
                    value = .string("\(scheme) <secret \(max(0, field.value.utf8.count - scheme.utf8.count - 1))>")
                }
                return ["name": .string(shown(field.name.rawName)), "value": value]
            }
        )
    }

    /// Masks the content type of an answer as a header's value.
    func contentType(_ value: String?) -> String? {
        value.map { Self.cut(TextScrub.scrub(Array($0.unicodeScalars.prefix(256))), 256) }
    }

    /// Cuts a masked text to at most `limit` bytes at a character boundary, and appends its full size.
    static func cut(_ text: String, _ limit: Int) -> String {
        let count = text.utf8.count
        guard count > limit else { return text }
        let note = "… <cut from \(count)>"
        var kept = String.UnicodeScalarView()
        var size = note.utf8.count
        for scalar in text.unicodeScalars {
            size += UTF8.width(scalar)
            guard size <= limit else { break }
            kept.append(scalar)
        }
        return String(kept) + note
    }
}
