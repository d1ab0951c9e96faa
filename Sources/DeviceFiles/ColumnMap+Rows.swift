package import Model

// The rows of a table by a map. Pure: the same record gives the same fields.
extension ColumnMap {
    /// The headings of a table.
    ///
    /// - Throws: `Fault` for a first line that cannot be read, and with the name of a column that the map needs and the table lacks.
    package func headings(_ record: [UInt8]) throws(Fault) -> [String] {
        let names: [String]
        do throws(CSV.Fault) {
            names = try CSV.fields(record, separator: separator)
        } catch {
            throw Fault(what: "the first line \(error.what)")
        }
        if let missing = columns.subtracting(names).min() {
            let found = names.prefix(64).joined(separator: ", ")
            throw Fault(what: "the table has no column '\(missing.prefix(64))'; it has \(found.prefix(1000))")
        }
        let read = names.filter { columns.contains($0) }
        guard Set(read).count == read.count else { throw Fault(what: "the table has a column of the map twice") }
        return names
    }

    /// The fields of a row, under the names of `DeviceColumn`, as a device file has them.
    ///
    /// - Throws: `Fault` with the reason why the row cannot be read.
    package func fields(_ record: [UInt8], headings: [String]) throws(Fault) -> [String: JSON] {
        let texts: [String]
        do throws(CSV.Fault) {
            texts = try CSV.fields(record, separator: separator)
        } catch {
            throw Fault(what: error.what)
        }
        guard texts.count <= headings.count else {
            throw Fault(what: "has \(texts.count) fields under \(headings.count) headings")
        }
        let row = Dictionary(zip(headings, texts), uniquingKeysWith: { first, _ in first })
        var fields: [String: JSON] = [:]
        for (column, cell) in cells { fields[column.rawValue] = try value(of: cell, column, row) }
        if !attributes.isEmpty {
            var object = JSONObject()
            for name in attributes.keys.sorted() {
                guard let cell = attributes[name] else { continue }
                object[name] = try text(of: cell, name, row).map { .string($0) }
            }
            if !object.isEmpty { fields[DeviceColumn.attributes.rawValue] = .object(object) }
        }
        let decided = try decisions(row)
        if !decided.isEmpty { fields[DeviceColumn.consents.rawValue] = .object(decided) }
        return fields
    }

    private func decisions(_ row: [String: String]) throws(Fault) -> JSONObject {
        var decided = JSONObject()
        for subject in consents.keys.sorted() {
            guard let consent = consents[subject], let isGiven = try flag(of: consent.cell, subject, row) else {
                continue
            }
            var facts: JSONObject = ["state": .string(isGiven ? "subscribed" : "unsubscribed")]
            if let at = consent.at, let time = try time(of: at, subject, row) { facts["at"] = .string(time) }
            facts["source"] = consent.source.map { .string($0) }
            decided[subject] = .object(facts)
        }
        return decided
    }

    private func value(of cell: Cell, _ column: DeviceColumn, _ row: [String: String]) throws(Fault) -> JSON? {
        switch column {
        case .acceptsPush: try flag(of: cell, column.rawValue, row).map { .bool($0) }
        case .registeredAt: try time(of: cell, column.rawValue, row).map { .string($0) }
        case .tags, .groups:
            try text(of: cell, column.rawValue, row).map { text in
                .array(Self.parts(text, cell.separator ?? ",").map { .string($0) })
            }
        default: try text(of: cell, column.rawValue, row).map { .string($0) }
        }
    }

    /// The text of a value; nil: the row has none.
    private func text(of cell: Cell, _ name: String, _ row: [String: String]) throws(Fault) -> String? {
        let parts = cell.columns.map { Self.trimmed(row[$0] ?? "") }
        // A key of several columns needs each of them.
        guard !parts.isEmpty, !parts.contains("") else { return cell.fallback }
        let joined = parts.joined(separator: cell.joint)
        if cell.absent.contains(joined) { return cell.fallback }
        guard let values = cell.values else { return cell.prefix + joined }
        guard let value = values[joined] else {
            throw Fault(what: "\(name): '\(joined.prefix(64))' is not among the values of the map")
        }
        return cell.prefix + value
    }

    private func flag(of cell: Cell, _ name: String, _ row: [String: String]) throws(Fault) -> Bool? {
        guard let text = try text(of: cell, name, row) else { return nil }
        if let yes = cell.yes { return text == yes }
        switch text {
        case "true": return true
        case "false": return false
        default: throw Fault(what: "\(name): the values of the map must be true or false")
        }
    }

    /// A time in RFC 3339, or as digits of a local time (`20260302100000`, `2026-03-02 10:00:00`, `2026-03-02`).
    private func time(of cell: Cell, _ name: String, _ row: [String: String]) throws(Fault) -> String? {
        guard let text = try text(of: cell, name, row) else { return nil }
        if Timestamp(rfc3339: text) != nil { return text }
        guard let offset = cell.offset else {
            throw Fault(what: "\(name): '\(text.prefix(64))' has no zone; give the map 'offset', such as +09:00")
        }
        // Fractions of seconds do not matter.
        let digits = Array(text.utf8.filter { (0x30...0x39).contains($0) }.prefix(14))
        guard [8, 12, 14].contains(digits.count), text.utf8.count <= 32,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "-/.:T ".utf8.contains($0) })
        else { throw Fault(what: "\(name): '\(text.prefix(64))' is not a time") }
        func part(_ range: Range<Int>) -> String {
            range.upperBound <= digits.count ? String(decoding: digits[range], as: UTF8.self) : "00"
        }
        let written = "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))"
        guard let local = LocalTime(written) else {
            throw Fault(what: "\(name): '\(text.prefix(64))' is not a time")
        }
        return Timestamp(seconds: local.seconds - offset).rfc3339
    }

    /// The members of a list without spaces around them.
    private static func parts(_ text: String, _ separator: String) -> [String] {
        guard let mark = separator.first, separator.count == 1 else { return [trimmed(text)] }
        return text.split(separator: mark).map { trimmed(String($0)) }.filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: String) -> String {
        guard text.first?.isWhitespace == true || text.last?.isWhitespace == true else { return text }
        let head = text.drop { $0.isWhitespace }
        return String(head.reversed().drop { $0.isWhitespace }.reversed())
    }
}
