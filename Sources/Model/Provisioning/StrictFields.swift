/// Reads one mapping of a provisioning file and records which keys were read: `finish` reports every other key as a mistake.
package struct StrictFields: Sendable {
    /// Where the mapping is in the file: `tenants[0].apps[1]`.
    package let path: String
    private let object: JSONObject
    private var read: Set<String> = []

    /// - Throws: `ProvisioningProblem` unless `json` is a mapping.
    package init(_ json: JSON?, path: String) throws(ProvisioningProblem) {
        guard let object = json?.object else { throw ProvisioningProblem(path: path, problem: "must be a mapping") }
        self.object = object
        self.path = path
    }

    private func at(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// The raw value, or nil when it is absent or null.
    package mutating func value(_ key: String) -> JSON? {
        read.insert(key)
        guard let value = object[key], value != .null else { return nil }
        return value
    }

    /// - Throws: `ProvisioningProblem` when it is present and not text.
    package mutating func optionalText(_ key: String) throws(ProvisioningProblem) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.lenientString else { throw ProvisioningProblem(path: at(key), problem: "must be text") }
        guard text.utf8.count <= 1024, !text.utf8.contains(where: { $0 < 0x20 }) else {
            throw ProvisioningProblem(path: at(key), problem: "is too long or contains control characters")
        }
        return text
    }

    /// - Throws: `ProvisioningProblem` when it is absent, empty or not text.
    package mutating func text(_ key: String) throws(ProvisioningProblem) -> String {
        guard let text = try optionalText(key), !text.isEmpty else {
            throw ProvisioningProblem(path: at(key), problem: "is missing")
        }
        return text
    }

    /// Reads a name for keys and URLs: letters, digits, `.`, `_`, `-`.
    ///
    /// - Throws: `ProvisioningProblem`.
    package mutating func name(_ key: String) throws(ProvisioningProblem) -> String {
        let text = try text(key)
        guard Self.isName(text) else {
            throw ProvisioningProblem(
                path: at(key),
                problem: "'\(text)' may contain only letters, digits, '.', '_' and '-', at most 64"
            )
        }
        return text
    }

    /// Whether a text is a name: at most 64 letters, digits, '.', '_' and '-'.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }

    /// - Throws: `ProvisioningProblem` when it is present and neither true nor false.
    package mutating func flag(_ key: String) throws(ProvisioningProblem) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let flag = value.bool else { throw ProvisioningProblem(path: at(key), problem: "must be true or false") }
        return flag
    }

    /// Reads a rate per second, 1 to 1,000,000, which is more than a cluster can send.
    ///
    /// - Throws: `ProvisioningProblem` when it is present and not such a number.
    package mutating func rate(_ key: String) throws(ProvisioningProblem) -> Int32? {
        try whole(key, 1...1_000_000).map { Int32($0) }
    }

    /// Reads a count, 0 to 2,147,483,647.
    ///
    /// - Throws: `ProvisioningProblem` when it is present and not such a number.
    package mutating func count(_ key: String) throws(ProvisioningProblem) -> Int? {
        try whole(key, 0...Int64(Int32.max)).map { Int($0) }
    }

    private mutating func whole(_ key: String, _ range: ClosedRange<Int64>) throws(ProvisioningProblem) -> Int64? {
        guard let value = value(key) else { return nil }
        guard let number = value.int, range.contains(number) else {
            throw ProvisioningProblem(
                path: at(key),
                problem: "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    /// Reads the elements with their paths; empty when absent.
    ///
    /// - Throws: `ProvisioningProblem` when it is present and not a list.
    package mutating func list(_ key: String) throws(ProvisioningProblem) -> [(path: String, value: JSON)] {
        guard let value = value(key) else { return [] }
        guard let array = value.array else { throw ProvisioningProblem(path: at(key), problem: "must be a list") }
        return array.enumerated().map { ("\(at(key))[\($0.offset)]", $0.element) }
    }

    /// Reads the pairs with their paths; empty when absent.
    ///
    /// - Throws: `ProvisioningProblem` when it is present and not a mapping.
    package mutating func pairs(_ key: String) throws(ProvisioningProblem) -> [(key: String, path: String, value: JSON)]
    {
        guard let value = value(key) else { return [] }
        guard let object = value.object else { throw ProvisioningProblem(path: at(key), problem: "must be a mapping") }
        return object.pairs.map { ($0.key, "\(at(key)).\($0.key)", $0.value) }
    }

    /// Refuses keys that were not read.
    ///
    /// - Throws: `ProvisioningProblem` that names the first one.
    package func finish() throws(ProvisioningProblem) {
        if let unknown = object.keys.first(where: { !read.contains($0) }) {
            throw ProvisioningProblem(path: at(unknown), problem: "is not a known key")
        }
    }
}
