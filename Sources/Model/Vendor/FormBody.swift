/// Parses `application/x-www-form-urlencoded` bodies, and queries, into the form of the equivalent JSON. Never traps on any input.
package enum FormBody {
    /// Parses the pairs as texts. The last value of a repeated key wins.
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
        guard let text = PercentCoding.decode(encoded, plusIsSpace: true) else { throw AdapterError(.unreadable) }
        return text
    }
}
