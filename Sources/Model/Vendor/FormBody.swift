/// Reads `application/x-www-form-urlencoded` bodies, and queries, into the shape of their JSON twins. Never traps on any input.
package enum FormBody {
    /// The pairs as texts, a repeated key with its last value.
    ///
    /// - Throws: `AdapterError(.unreadable)` for a broken escape, a text that is not UTF-8, or more than `pairLimit` pairs.
    package static func parse(_ body: [UInt8], pairLimit: Int) throws(AdapterError) -> JSONObject {
        let pairs = body.split(separator: UInt8(ascii: "&"), maxSplits: pairLimit)
        guard pairs.count <= pairLimit else { throw AdapterError(.unreadable) }
        var object = JSONObject()
        for pair in pairs {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves.first else { continue }
            object[try text(name)] = .string(halves.count > 1 ? try text(halves[1]) : "")
        }
        return object
    }

    private static func text(_ encoded: ArraySlice<UInt8>) throws(AdapterError) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var rest = encoded
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(HexCoding.value),
                    let low = rest.popFirst().flatMap(HexCoding.value)
                else { throw AdapterError(.unreadable) }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)  // any other byte stands for itself
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw AdapterError(.unreadable) }
        return text
    }
}
