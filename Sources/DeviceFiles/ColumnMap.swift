package import Model

/// Describes how the columns of any table become the columns of a device file: `devices import --map FILE`.
///
/// ```yaml
/// key: { column: DEVICE_ID, prefix: "APNS:" }
/// token: PSID
/// acceptsPush: { column: PUSH_YN, yes: "Y" }
/// environment: { column: APNS_MODE, values: { REAL: production, DEV: sandbox } }
/// ```
package struct ColumnMap: Sendable, Hashable {
    /// An error in a map, as a sentence about one of its parts.
    package struct Fault: Error, Hashable {
        package var what: String
    }

    /// The source of one value.
    struct Cell: Sendable, Hashable {
        /// The columns of the table; their texts are joined.
        var columns: [String] = []
        /// Between the texts of several columns.
        var joint = ""
        /// Before the text, if there is one.
        var prefix = ""
        /// Texts that count as empty, such as `GUEST`.
        var absent: Set<String> = []
        /// The values of texts; others are faults. Nil: the text itself.
        var values: [String: String]?
        /// The value of an empty text, or of every row without a column.
        var fallback: String?
        /// The text that means true; every other one means false.
        var yes: String?
        /// Between the members of a list.
        var separator: String?
        /// Of local times, east of UTC. Unit: seconds.
        var offset: Int64?
    }

    /// The source of a consent.
    struct Consent: Sendable, Hashable {
        var cell: Cell
        /// When the user decided.
        var at: Cell?
        var source: String?
    }

    /// 64 KiB: a map has some twenty columns.
    package static let limitBytes = 65_536
    /// 100 consents and 100 attributes.
    private static let memberLimit = 100

    /// Between the fields of the table.
    package let separator: UInt8
    let cells: [DeviceColumn: Cell]
    let consents: [String: Consent]
    let attributes: [String: Cell]

    private static let separators: [String: UInt8] = [
        ",": UInt8(ascii: ","), ";": UInt8(ascii: ";"), "\t": UInt8(ascii: "\t"), "|": UInt8(ascii: "|"),
    ]

    /// Reads a map.
    ///
    /// - Throws: `Fault`.
    package init(_ json: JSON) throws(Fault) {
        guard let object = json.object, !object.isEmpty else {
            throw Fault(what: "must name the columns of the table, as in 'token: PSID'")
        }
        var separator = UInt8(ascii: ",")
        var cells: [DeviceColumn: Cell] = [:]
        var consents: [String: Consent] = [:]
        var attributes: [String: Cell] = [:]
        for (name, value) in object.pairs {
            switch (name, DeviceColumn(rawValue: name)) {
            case ("separator", _):
                guard let known = value.string.flatMap({ Self.separators[$0] }) else {
                    throw Fault(what: "separator: must be a comma, a semicolon, a tab or |")
                }
                separator = known
            case (_, .consents?):
                for (subject, value) in try Self.members(value, name) {
                    consents[subject] = try Self.consent(value, "\(name).\(subject)")
                }
            case (_, .attributes?):
                for (key, value) in try Self.members(value, name) {
                    attributes[key] = try Self.cell(value, "\(name).\(key)")
                }
            case (_, .client?): throw Fault(what: "client: cannot be mapped; appVersion can")
            case (_, let column?): cells[column] = try Self.cell(value, name, isFlag: column == .acceptsPush)
            case (_, nil):
                let known = DeviceColumn.allCases.map(\.rawValue).joined(separator: ", ")
                throw Fault(what: "'\(name.prefix(64))' is not a column; the columns are \(known)")
            }
        }
        guard cells[.key] != nil || cells[.token] != nil else { throw Fault(what: "needs a key or a token") }
        (self.separator, self.cells) = (separator, cells)
        (self.consents, self.attributes) = (consents, attributes)
    }

    /// The columns of the table that the map reads.
    package var columns: Set<String> {
        let consented = consents.values.flatMap { $0.cell.columns + ($0.at?.columns ?? []) }
        return Set((Array(cells.values) + Array(attributes.values)).flatMap(\.columns) + consented)
    }

    // MARK: Reading

    private static func members(_ value: JSON, _ path: String) throws(Fault) -> [(key: String, value: JSON)] {
        guard let object = value.object, object.count <= memberLimit else {
            throw Fault(what: "\(path): must be an object with at most \(memberLimit) members")
        }
        return object.pairs
    }

    private static func consent(_ value: JSON, _ path: String) throws(Fault) -> Consent {
        guard var object = value.object else {
            throw Fault(what: "\(path): must be like { column: AD_YN, yes: \"Y\" }")
        }
        let at = object["at"]
        let source = object["source"]
        object["at"] = nil
        object["source"] = nil
        let cell = try cell(.object(object), path, isFlag: true)
        return Consent(
            cell: cell,
            at: try at.map { (value) throws(Fault) in try Self.cell(value, "\(path).at") },
            source: try source.map { (value) throws(Fault) in try text(value, "\(path).source") }
        )
    }

    /// `isFlag`: whether the value is true or false, so that `yes` must say which.
    private static func cell(_ value: JSON, _ path: String, isFlag: Bool = false) throws(Fault) -> Cell {
        var cell = Cell()
        if let column = value.string {
            cell.columns = [column]
        } else {
            guard let object = value.object else { throw Fault(what: "\(path): must be a column or an object") }
            for (name, value) in object.pairs { try set(name, value, path, &cell) }
        }
        guard !cell.columns.isEmpty || cell.fallback != nil else { throw Fault(what: "\(path): needs a column") }
        guard cell.columns.count <= 8, !cell.columns.contains("") else {
            throw Fault(what: "\(path): must have 1 to 8 columns with names")
        }
        guard isFlag == (cell.yes != nil) || isFlag && cell.values != nil else {
            throw Fault(what: isFlag ? "\(path): needs 'yes' or 'values'" : "\(path): cannot have 'yes'")
        }
        return cell
    }

    private static func set(_ name: String, _ value: JSON, _ path: String, _ cell: inout Cell) throws(Fault) {
        let path = "\(path).\(name)"
        switch name {
        case "column": cell.columns = [try text(value, path)]
        case "columns": cell.columns = try texts(value, path)
        case "joint": cell.joint = try text(value, path)
        case "prefix": cell.prefix = try text(value, path)
        case "absent": cell.absent = Set(try texts(value, path))
        case "value": cell.fallback = try text(value, path)
        case "yes": cell.yes = try text(value, path)
        case "separator": cell.separator = try text(value, path)
        case "offset":
            guard let offset = offset(try text(value, path)) else {
                throw Fault(what: "\(path): must be like +09:00")
            }
            cell.offset = offset
        case "values":
            var values: [String: String] = [:]
            for (key, value) in try members(value, path) { values[key] = try text(value, "\(path).\(key)") }
            cell.values = values
        default: throw Fault(what: "\(path): is not known")
        }
    }

    private static func text(_ value: JSON, _ path: String) throws(Fault) -> String {
        switch value {
        case .string(let text), .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object: throw Fault(what: "\(path): must be text")
        }
    }

    private static func texts(_ value: JSON, _ path: String) throws(Fault) -> [String] {
        guard let array = value.array else { return [try text(value, path)] }
        var texts: [String] = []
        for element in array { texts.append(try text(element, path)) }
        return texts
    }

    /// The seconds of `+09:00`; nil: not of that form.
    private static func offset(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"),
            bytes[3] == UInt8(ascii: ":"), let hours = Int64(text.dropFirst().prefix(2)),
            let minutes = Int64(text.suffix(2)), (0...14).contains(hours), (0...59).contains(minutes)
        else { return nil }
        return (hours * 3600 + minutes * 60) * (bytes[0] == UInt8(ascii: "-") ? -1 : 1)
    }
}
