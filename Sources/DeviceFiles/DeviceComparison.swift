package import Model

/// Compares the devices of an export with the stored ones: first all rows of the export, then all stored identities. Pure.
///
/// It keeps eight bytes for each device that both sides have, and a few masked keys as examples.
package struct DeviceComparison: Sendable {
    /// The ways in which a device may differ.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case onlyInExport, onlyHere, token, user, push
    }

    /// 16,000,000 devices: 128 MB of memory.
    package static let deviceLimit = 16_000_000
    /// 20 keys of each kind, and of a summary.
    package static let exampleLimit = 20

    package private(set) var summary = ComparisonSummary()
    package private(set) var examples: [Kind: [String]] = [:]
    /// Whether there were more devices than can be compared at once.
    package private(set) var isTooLarge = false
    /// Hash values of the identities that the export has.
    private var found: [Int] = []
    private var isSorted = false
    /// Whether the export has devices without a token. Otherwise it is a list of tokens, and stored devices without one are not missing in it.
    private var hasTokenless = false
    private let limit: Int

    package init(limit: Int = Self.deviceLimit) { self.limit = limit }

    /// Takes rows of the export, and those of them that are stored.
    package mutating func take(_ rows: [DeviceRegistration], _ stored: [ComparedDevice]) {
        summary.exported += rows.count
        hasTokenless = hasTokenless || rows.contains { $0.token == nil }
        var isKnown = [Bool](repeating: false, count: rows.count)
        for device in stored where isKnown.indices.contains(device.place) {
            isKnown[device.place] = true
            if found.count < limit { found.append(device.identity.hashValue) } else { isTooLarge = true }
            let key = rows[device.place].key
            if device.tokenDiffers { note(.token, key, \.tokenDiffers) }
            if device.userDiffers { note(.user, key, \.userDiffers) }
            if device.pushDiffers { note(.push, key, \.pushDiffers) }
            if device.differs { summary.differing += 1 }
            if device.isNewer { summary.newerInExport += 1 }
        }
        for place in isKnown.indices where !isKnown[place] { note(.onlyInExport, rows[place].key, \.onlyInExport) }
        isSorted = false
    }

    /// Takes rows of the export that cannot be read.
    package mutating func reject(_ count: Int) { summary.rejected += count }

    /// Takes a stored active identity, after all rows of the export.
    package mutating func stored(_ identity: IdentityID, _ key: VendorDeviceKey, hasToken: Bool) {
        guard hasToken || hasTokenless else { return }
        if !isSorted { found.sort() }
        isSorted = true
        if !contains(identity.hashValue) { note(.onlyHere, key, \.onlyHere) }
    }

    private mutating func note(_ kind: Kind, _ key: VendorDeviceKey?, _ count: WritableKeyPath<ComparisonSummary, Int>)
    {
        summary[keyPath: count] += 1
        guard examples[kind, default: []].count < Self.exampleLimit, let key else { return }
        examples[kind, default: []].append(Self.masked(key))
    }

    /// The last four characters of a long key, as of a phone number: they confirm a device that is known otherwise, and name nobody.
    private static func masked(_ key: VendorDeviceKey) -> String {
        key.rawValue.count > 12 ? "…\(key.rawValue.suffix(4))" : "…"
    }

    /// The counts with at most `exampleLimit` of the examples: as many of each kind, as far as there are.
    package var result: ComparisonSummary {
        var result = summary
        for place in 0..<Self.exampleLimit {
            for kind in Kind.allCases where result.samples.count < Self.exampleLimit {
                guard let keys = examples[kind], keys.indices.contains(place) else { continue }
                result.samples.append(["difference": .string(kind.rawValue), "key": .string(keys[place])])
            }
        }
        return result
    }

    private func contains(_ value: Int) -> Bool {
        var (low, high) = (0, found.count)
        while low < high {
            let middle = (low + high) / 2
            if found[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low < found.count && found[low] == value
    }
}
