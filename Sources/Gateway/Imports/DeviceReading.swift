package import DeviceFiles
package import Model

/// How the records of a device file become devices.
package enum DeviceReading: Sendable {
    /// The columns of `DeviceColumn`, or the vendor's names of them.
    case columns(DeviceFormat)
    /// A table with columns of its own.
    case table(ColumnMap)
    /// A vendor's own export.
    case export(any ExportReading, ExportTerms)

    /// Whether the first record names the columns.
    var hasHeadings: Bool {
        switch self {
        case .columns(let format): format == .csv
        case .table: true
        case .export: false
        }
    }

    /// The splitter of the file from a checkpoint on.
    func splitter(line: Int, offset: Int) -> RecordSplitter {
        switch self {
        case .columns, .table: RecordSplitter(quotes: hasHeadings, line: line, offset: offset)
        case .export:
            RecordSplitter(quotes: false, line: line, offset: offset, limitBytes: RecordSplitter.exportLimitBytes)
        }
    }

    /// The columns that the first record names.
    ///
    /// - Throws: `ImportProblem`.
    func headings(_ record: [UInt8], _ own: [String: String]) throws(ImportProblem) -> [String] {
        guard case .table(let map) = self else { return try Self.headings(record, own) }
        do throws(ColumnMap.Fault) {
            return try map.headings(record)
        } catch {
            throw ImportProblem("devices import: \(error.what)", isUsage: true)
        }
    }

    private static func headings(_ record: [UInt8], _ own: [String: String]) throws(ImportProblem) -> [String] {
        let known = (DeviceLine.columns + own.keys.sorted()).joined(separator: ", ")
        let cells: [String]
        do throws(CSV.Fault) {
            cells = try CSV.fields(record)
        } catch {
            throw ImportProblem(
                "devices import: the first line must name the columns, of \(known); it \(error.what)",
                isUsage: true
            )
        }
        let names = cells.map { own[$0] ?? $0 }
        if let unknown = names.first(where: { !DeviceLine.columns.contains($0) }) {
            throw ImportProblem(
                "devices import: the first line must name the columns; '\(unknown.prefix(64))' is not one of \(known)",
                isUsage: true
            )
        }
        guard Set(names).count == names.count, !names.isEmpty else {
            throw ImportProblem(
                "devices import: the first line must name each column once, of \(known)",
                isUsage: true
            )
        }
        return names
    }

    /// The devices of a record; a vendor's export may have several in one, or none.
    ///
    /// - Throws: `DeviceLine.Fault`.
    func devices(
        _ record: [UInt8],
        headings: [String],
        _ own: [String: String],
        _ identifiers: any IdentifierSource
    ) throws(DeviceLine.Fault) -> [DeviceRegistration] {
        switch self {
        case .columns(.ndjson):
            let fields = try DeviceLine.renamed(try DeviceLine.fields(json: record), own)
            return [try DeviceLine.registration(fields, identifiers)]
        case .columns(.csv):
            let fields = try DeviceLine.fields(csv: record, headings: headings)
            return [try DeviceLine.registration(fields, identifiers)]
        case .table(let map): return [try Self.mapped(record, headings, map, identifiers)]
        case .export(let vendor, let terms): return try Self.exported(record, vendor, terms, identifiers)
        }
    }

    private static func mapped(
        _ record: [UInt8],
        _ headings: [String],
        _ map: ColumnMap,
        _ identifiers: any IdentifierSource
    ) throws(DeviceLine.Fault) -> DeviceRegistration {
        let fields: [String: JSON]
        do throws(ColumnMap.Fault) {
            fields = try map.fields(record, headings: headings)
        } catch {
            throw DeviceLine.Fault(reason: error.what)
        }
        return try DeviceLine.registration(fields, identifiers)
    }

    private static func exported(
        _ record: [UInt8],
        _ vendor: any ExportReading,
        _ terms: ExportTerms,
        _ identifiers: any IdentifierSource
    ) throws(DeviceLine.Fault) -> [DeviceRegistration] {
        let commands: [Command]
        do throws(ExportFault) {
            commands = try vendor.registrations(inExport: record, terms)
        } catch {
            throw DeviceLine.Fault(reason: error.reason)
        }
        var devices = commands.compactMap { command in
            if case .registration(.register(let device)) = command { device } else { nil }
        }
        for place in devices.indices {
            if devices[place].key == nil {
                devices[place].key = devices[place].token.map { DeviceLine.derivedKey($0, identifiers) }
            }
            try DeviceLine.check(devices[place])
        }
        return devices
    }
}
