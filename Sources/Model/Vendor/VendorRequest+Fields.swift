extension VendorRequest {
    /// The request without the fields of these names in its query, and in its body if that is a JSON object or a form. A body without such a field stays as it is.
    package func without(_ isDropped: (String) -> Bool) -> VendorRequest {
        var request = self
        if let query, let rest = Self.pairs(Array(query.utf8), without: isDropped) {
            request.query = rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
        }
        if let first = body.first(where: { !Self.isSpace($0) }) {
            let isObject = first == UInt8(ascii: "{")
            let rest = isObject ? Self.members(body, without: isDropped) : Self.pairs(body, without: isDropped)
            if let rest { request.body = rest }
        }
        return request
    }

    /// The object without these members. Nil: it has none of them, or is not an object.
    private static func members(_ bytes: [UInt8], without isDropped: (String) -> Bool) -> [UInt8]? {
        guard let object = (try? JSONParser.parse(bytes))?.object, object.keys.contains(where: isDropped) else {
            return nil
        }
        let kept = object.pairs.filter { !isDropped($0.key) }.map { ($0.key, $0.value) }
        return JSONWriter.bytes(.object(JSONObject(kept)))
    }

    /// The pairs without these names, each in its own spelling. Nil: there are none of them.
    private static func pairs(_ bytes: [UInt8], without isDropped: (String) -> Bool) -> [UInt8]? {
        let pairs = bytes.split(separator: UInt8(ascii: "&"))
        let kept = pairs.filter { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            return !(PercentCoding.decode(name, plusIsSpace: true).map(isDropped) ?? false)
        }
        return kept.count == pairs.count ? nil : Array(kept.joined(separator: [UInt8(ascii: "&")]))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
