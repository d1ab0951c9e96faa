import Foundation
import Model
package import Store

/// The progress of an import, in a file next to its source. It covers only committed batches, so that a killed import continues from there.
///
/// The file is written after each commit. A kill between the two leaves the last batch committed but not recorded; importing it again changes nothing.
package struct ImportCheckpoint: Equatable {
    /// The size of the source, to detect another file of the same name. Unit: bytes.
    package var sourceBytes: Int
    /// The processed part of the source. Unit: bytes.
    package var offset = 0
    /// The number of the next line.
    package var line = 1
    package var created = 0
    package var updated = 0
    package var unchanged = 0
    package var older = 0
    package var rejected = 0
    /// Rows by which a user does not want pushes, or has withdrawn a consent.
    package var optOuts = 0
    /// Rows that state whether a user wants pushes, or a consent.
    package var consents = 0
    /// The size of the rejects file at the checkpoint. Unit: bytes.
    package var rejectBytes = 0
    /// The headings of a CSV file.
    package var headings: [String] = []
    /// The time that the import was given for the source, as text; nil: none.
    package var asOf: String?

    package init(sourceBytes: Int) { self.sourceBytes = sourceBytes }

    package var counts: ImportCounts {
        .init(created: created, updated: updated, unchanged: unchanged, older: older)
    }

    /// Reads a checkpoint; nil if the file does not exist.
    ///
    /// - Throws: `ImportProblem` for a file that is not a checkpoint.
    package static func read(_ path: String) throws(ImportProblem) -> ImportCheckpoint? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        guard let json = try? JSONParser.parse(Array(data)), let object = json.object,
            let sourceBytes = number(object, "sourceBytes"), let offset = number(object, "offset"),
            let line = number(object, "line"), let created = number(object, "created"),
            let updated = number(object, "updated"), let rejected = number(object, "rejected"),
            let rejectBytes = number(object, "rejectBytes"), let headings = object["headings"]?.array
        else { throw ImportProblem("devices import: \(path) is not a checkpoint of an import; remove it") }
        var checkpoint = ImportCheckpoint(sourceBytes: sourceBytes)
        (checkpoint.offset, checkpoint.line) = (offset, line)
        (checkpoint.created, checkpoint.updated, checkpoint.rejected) = (created, updated, rejected)
        // A checkpoint of an earlier version does not have these.
        checkpoint.unchanged = number(object, "unchanged") ?? 0
        checkpoint.older = number(object, "older") ?? 0
        checkpoint.optOuts = number(object, "optOuts") ?? 0
        checkpoint.consents = number(object, "consents") ?? 0
        checkpoint.rejectBytes = rejectBytes
        checkpoint.headings = headings.compactMap(\.string)
        checkpoint.asOf = object["asOf"]?.string
        return checkpoint
    }

    private static func number(_ object: JSONObject, _ name: String) -> Int? {
        guard case .number(let text)? = object[name], let value = Int(text), value >= 0 else { return nil }
        return value
    }

    /// Writes the checkpoint atomically.
    ///
    /// - Throws: `ImportProblem`.
    package func write(_ path: String) throws(ImportProblem) {
        let json: JSON = [
            "sourceBytes": .int(sourceBytes), "offset": .int(offset), "line": .int(line), "created": .int(created),
            "updated": .int(updated), "unchanged": .int(unchanged), "older": .int(older),
            "rejected": .int(rejected), "rejectBytes": .int(rejectBytes),
            "optOuts": .int(optOuts), "consents": .int(consents),
            "headings": .array(headings.map { .string($0) }), "asOf": asOf.map { .string($0) } ?? .null,
        ]
        do {
            try Data(JSONWriter.bytes(json)).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw ImportProblem(
                "devices import: \(path) cannot be written, so that the import could not be resumed; --no-checkpoint imports without it"
            )
        }
    }
}
