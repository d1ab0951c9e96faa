/// A device of an export that is stored here too, and how the two differ.
package struct ComparedDevice: Sendable, Hashable {
    /// The place of its row among the compared rows, from 0.
    package var place: Int
    package var identity: IdentityID
    package var tokenDiffers: Bool
    package var userDiffers: Bool
    package var pushDiffers: Bool
    /// Whether it registered later in the export than here.
    package var isNewer: Bool

    package init(
        place: Int,
        identity: IdentityID,
        tokenDiffers: Bool,
        userDiffers: Bool,
        pushDiffers: Bool,
        isNewer: Bool
    ) {
        self.place = place
        self.identity = identity
        self.tokenDiffers = tokenDiffers
        self.userDiffers = userDiffers
        self.pushDiffers = pushDiffers
        self.isNewer = isNewer
    }

    package var differs: Bool { tokenDiffers || userDiffers || pushDiffers }
}

/// The counts of a comparison of an export with the stored devices.
package struct ComparisonSummary: Sendable, Hashable {
    /// After 24 hours a summary counts as no data.
    package static let usableFor: Duration = .seconds(86_400)

    /// Devices of the export.
    package var exported = 0
    /// Rows of the export that cannot be read.
    package var rejected = 0
    package var onlyInExport = 0
    package var onlyHere = 0
    package var tokenDiffers = 0
    package var userDiffers = 0
    package var pushDiffers = 0
    /// Devices of which at least one of these three differs.
    package var differing = 0
    package var newerInExport = 0
    /// Masked examples of devices that differ: `difference` (`DeviceComparison.Kind`) and `key`.
    package var samples: [JSON] = []

    package init() {}

    /// The share of devices on which the two sides do not agree; nil: the export has no device, so that nothing was compared.
    package var difference: Double? {
        guard exported > 0 else { return nil }
        return Double(onlyInExport + onlyHere + differing + rejected) / Double(exported + rejected + onlyHere)
    }

    private static let members: [(name: String, path: any WritableKeyPath<ComparisonSummary, Int> & Sendable)] = [
        ("exported", \.exported), ("rejected", \.rejected), ("onlyInExport", \.onlyInExport), ("onlyHere", \.onlyHere),
        ("tokenDiffers", \.tokenDiffers), ("userDiffers", \.userDiffers), ("pushDiffers", \.pushDiffers),
        ("differing", \.differing), ("newerInExport", \.newerInExport),
    ]

    /// The stored form.
    package var json: JSON {
        let counts = Self.members.map { ($0.name, JSON.int(self[keyPath: $0.path])) }
        return .object(JSONObject(counts + [("samples", JSON.array(samples))]))
    }

    /// Nil for a value that is not a summary.
    package init?(_ json: JSON) {
        for (name, path) in Self.members {
            guard let number = json[name]?.int, let count = Int(exactly: number), count >= 0 else { return nil }
            self[keyPath: path] = count
        }
        samples = json["samples"]?.array ?? []
    }
}
