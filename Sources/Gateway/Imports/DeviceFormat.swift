import Adapters
import Commands
import DeviceFiles
package import Model
package import Store
package import TransferStore

/// The format of a device file: a JSON object per line, or a table with the column names in the first line.
package enum DeviceFormat: String, CaseIterable, Sendable {
    case ndjson, csv

    /// The format that the file name's extension indicates, before `.gz`; nil for others.
    package init?(fileName: String) {
        let parts = fileName.lowercased().split(separator: ".")
        switch parts.last == "gz" ? parts.dropLast().last : parts.last {
        case "csv": self = .csv
        case "ndjson", "jsonl", "json": self = .ndjson
        default: return nil
        }
    }
}

/// Converts one row of a device file.
package enum DeviceLine {
    /// The reason why a row is rejected, as a phrase after the row's name.
    package struct Fault: Error, Equatable {
        package var reason: String
    }

    /// The columns, in the order of export.
    package static let columns = DeviceColumn.allCases.map(\.rawValue)

    /// The vendors whose devices can be imported.
    package static let vendors = VendorCatalog.product.vendors { VendorCatalog.product.importing[$0] != nil }

    /// The names of `vendors`, for help and messages.
    package static let vendorNames = vendors.map(\.rawValue).joined(separator: ", ")

    /// The vendors whose own export of devices is read as it is.
    package static let exporting = VendorCatalog.product.vendors { VendorCatalog.product.exports[$0] != nil }

    /// The reader of a vendor's own export.
    package static func export(of vendor: Vendor) -> (any ExportReading)? { VendorCatalog.product.exports[vendor] }

    /// The vendor's own column names, each with the standard column that it corresponds to.
    package static func ownColumns(of vendor: Vendor, _ vendors: VendorCatalog = VendorCatalog.product) -> [String:
        String]
    {
        (vendors.importing[vendor]?.importColumns ?? [:]).mapValues(\.rawValue)
    }

    /// Replaces the vendor's own names of `fields` with the standard column names.
    ///
    /// - Throws: `Fault` when two names of a row correspond to the same column.
    package static func renamed(_ fields: [String: JSON], _ own: [String: String]) throws(Fault) -> [String: JSON] {
        guard fields.keys.contains(where: { own[$0] != nil }) else { return fields }
        var renamed: [String: JSON] = [:]
        for (name, value) in fields {
            guard renamed.updateValue(value, forKey: own[name] ?? name) == nil else {
                throw Fault(reason: "\(own[name] ?? name): appears twice, once under another name")
            }
        }
        return renamed
    }

    /// The members of a JSON line.
    ///
    /// - Throws: `Fault`.
    package static func fields(json record: [UInt8]) throws(Fault) -> [String: JSON] {
        let value: JSON
        do { value = try JSONParser.parse(record) } catch { throw Fault(reason: "is not JSON: \(error.what)") }
        guard let object = value.object else { throw Fault(reason: "is not a JSON object") }
        var fields: [String: JSON] = [:]
        for (name, value) in object.pairs where value != .null { fields[name] = value }
        return fields
    }

    /// The fields of a CSV line under its headings; empty fields are left out.
    ///
    /// - Throws: `Fault`.
    package static func fields(csv record: [UInt8], headings: [String]) throws(Fault) -> [String: JSON] {
        let values: [String]
        do { values = try CSV.fields(record) } catch { throw Fault(reason: error.what) }
        guard values.count <= headings.count else {
            throw Fault(reason: "has \(values.count) fields under \(headings.count) headings")
        }
        var fields: [String: JSON] = [:]
        for (heading, cell) in zip(headings, values) where !cell.isEmpty {
            let value = CSV.original(cell)
            switch heading {
            case "attributes", "client", "consents", "groups":
                guard let object = try? JSONParser.parse(value) else {
                    throw Fault(reason: "\(heading): is not JSON")
                }
                fields[heading] = object
            case "tags":
                // A separator alone means an empty list; an empty field does not.
                fields[heading] = .array(value.split { $0 == " " || $0 == ";" }.map { .string(String($0)) })
            default: fields[heading] = .string(value)
            }
        }
        return fields
    }

    /// Creates the registration of a row.
    ///
    /// For a row without a key, the key is derived from the token. It is the same at each import, so that a file can be imported repeatedly.
    ///
    /// - Throws: `Fault` that names the field.
    package static func registration(
        _ fields: [String: JSON],
        _ identifiers: any IdentifierSource
    ) throws(Fault) -> DeviceRegistration {
        if let unknown = fields.keys.filter({ !columns.contains($0) }).min() {
            throw Fault(reason: "'\(unknown)' is not a column; the columns are \(columns.joined(separator: ", "))")
        }
        guard let platform = Platform(rawValue: try text("platform", fields) ?? "ios") else {
            throw Fault(reason: "platform: must be ios or android")
        }
        var environment: PushEnvironment?
        if let name = try text("environment", fields) {
            guard let known = PushEnvironment(rawValue: name) else {
                throw Fault(reason: "environment: must be production or sandbox")
            }
            environment = known
        }
        var token: DeviceToken?
        if let text = try text("token", fields) {
            token = platform == .ios ? DeviceToken(apns: text) : DeviceToken(fcm: text)
            guard token != nil else { throw Fault(reason: "token: is not a token of that platform") }
        }
        var attributes = JSONObject()
        if let value = fields["attributes"] {
            guard let object = value.object else { throw Fault(reason: "attributes: must be an object") }
            attributes = object
        }
        let given =
            try text("key", fields)
            ?? token.map { derivedKey($0, identifiers).rawValue }
        guard let key = given else { throw Fault(reason: "key: is missing, and cannot be derived without a token") }
        let phone = try text("phone", fields)
        var clock = DeviceClock()
        if let name = try text("timeZone", fields) {
            clock.timeZone = TimeZoneName(name)
            guard clock.timeZone != nil else { throw Fault(reason: "timeZone: is not a name of the IANA database") }
        }
        if let text = try text("receivingWindow", fields) {
            clock.window = DailyWindow(text)
            guard clock.window != nil else { throw Fault(reason: "receivingWindow: must be like 0900-2100") }
        }
        var registration = DeviceRegistration(
            key: VendorDeviceKey(key),
            platform: platform,
            environment: environment,
            token: token,
            user: try text("user", fields).map { UserID($0) },
            name: try text("name", fields),
            phone: phone.map { $0.filter(\.isNumber) },
            rawPhone: phone,
            attributes: attributes,
            tags: try tags(fields),
            clock: clock
        )
        registration.client = try client(fields)
        registration.imported = try imported(fields, of: registration.user)
        try check(registration)
        return registration
    }

    /// The key of a device without one: the same at each import.
    static func derivedKey(_ token: DeviceToken, _ identifiers: any IdentifierSource) -> VendorDeviceKey {
        VendorDeviceKey(DeviceRegistration.derivedKeyPrefix + identifiers.sha256(Array(token.text.utf8)).prefix(32))
    }

    /// Checks that a device has a key and can be stored.
    ///
    /// - Throws: `Fault` that names the field.
    static func check(_ registration: DeviceRegistration) throws(Fault) {
        guard registration.key != nil else {
            throw Fault(reason: "key: is missing, and cannot be derived without a token")
        }
        if let field = registration.unstorableField { throw Fault(reason: "\(field): is too long or cannot be stored") }
    }

    /// All new tags of the device, case-folded; nil when the row has no tags field.
    private static func tags(_ fields: [String: JSON]) throws(Fault) -> [Tag]? {
        guard let value = fields["tags"] else { return nil }
        guard let array = value.array else { throw Fault(reason: "tags: must be an array") }
        var tags: [Tag] = []
        for element in array {
            guard let text = element.string, let tag = Tag(exported: text) else {
                throw Fault(reason: "tags: '\(JSONWriter.text(element).prefix(64))' is not a tag")
            }
            tags.append(tag)
        }
        return tags
    }

    /// A text field. A number is accepted in its spelling, because tables often contain phone numbers as numbers.
    static func text(_ name: String, _ fields: [String: JSON]) throws(Fault) -> String? {
        switch fields[name] {
        case nil: return nil
        case .string(let text): return text.isEmpty ? nil : text
        case .number(let text): return text
        default: throw Fault(reason: "\(name): must be text")
        }
    }

    // MARK: Export

    /// One identity of a device as a row, in the order of `columns`. Unlike in other output the token is complete, because a copy without it would be useless.
    package static func values(
        _ device: DeviceFacts,
        _ identity: IdentityEntry,
        _ facts: ExportedFacts
    ) -> [(column: String, value: JSON?)] {
        registered(device, identity, facts.ownTags) + recorded(identity, facts)
    }

    /// The columns of a registration.
    private static func registered(
        _ device: DeviceFacts,
        _ identity: IdentityEntry,
        _ ownTags: [Tag]
    ) -> [(column: String, value: JSON?)] {
        let tags = identity.tags + ownTags
        return [
            ("key", .string(identity.key.rawValue)),
            ("platform", .string(device.platform.rawValue)),
            ("environment", .string(device.environment.rawValue)),
            ("token", device.tokenState == .active ? device.token.map { .string($0.text) } : nil),
            ("user", identity.user.map { .string($0.rawValue) }),
            ("name", identity.name.map { .string($0) }),
            ("phone", identity.phone.map { .string($0) }),
            ("attributes", identity.attributes.isEmpty ? nil : .object(identity.attributes)),
            ("timeZone", device.clock.timeZone.map { .string($0.text) }),
            ("receivingWindow", device.clock.window.map { .string($0.description) }),
            ("tags", tags.isEmpty ? nil : .array(tags.map { .string($0.text) })),
            ("client", identity.client.report.map { .object($0) }),
        ]
    }

    /// The columns about users and times.
    private static func recorded(
        _ identity: IdentityEntry,
        _ facts: ExportedFacts
    ) -> [(column: String, value: JSON?)] {
        [
            ("appVersion", identity.client[.appVersion].map { .string($0) }),
            ("acceptsPush", .bool(identity.acceptsPush)),
            ("consents", facts.consents.isEmpty ? nil : RecordedConsent.json(facts.consents)),
            ("groups", facts.groups.isEmpty ? nil : .array(facts.groups.sorted().map { .string($0) })),
            ("badge", facts.badge.map { .int($0) }),
            ("registeredAt", .string(identity.registeredAt.rfc3339)),
        ]
    }

    /// Formats a row as a line of the given format, without its line end.
    package static func line(_ values: [(column: String, value: JSON?)], _ format: DeviceFormat) -> String {
        switch format {
        case .ndjson:
            return JSONWriter.text(.object(JSONObject(values.compactMap { row in row.value.map { (row.column, $0) } })))
        case .csv:
            return CSV.record(
                values.map { row in
                    // Names of groups may contain spaces.
                    if row.column == "groups", let groups = row.value { return JSONWriter.text(groups) }
                    // The values come from devices and their users, and an operator opens the file in a spreadsheet.
                    switch row.value {
                    case nil: return ""
                    case .string(let text): return CSV.neutral(text)
                    case .array(let tags): return CSV.neutral(tags.compactMap(\.string).joined(separator: " "))
                    case .some(let value): return JSONWriter.text(value)
                    }
                }
            )
        }
    }
}
