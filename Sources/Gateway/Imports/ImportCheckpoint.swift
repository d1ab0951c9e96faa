import Foundation
import Model
package import Store

/// How far an import has come, in a file beside its source: what is committed is in it, so that a killed import goes on where it was.
///
/// Written after each commit. The last batch may be committed without being noted; importing it again changes nothing.
package struct ImportCheckpoint: Equatable {
    /// The source's size: another file of the same name is not gone on with. Unit: bytes.
    package var sourceBytes: Int
    /// How much of the source is done. Unit: bytes.
    package var offset = 0
    /// The number of the next line.
    package var line = 1
    package var created = 0
    package var updated = 0
    package var rejected = 0
    /// How much of the rejects' file belongs to what is done. Unit: bytes.
    package var rejectBytes = 0
    /// The headings of a CSV file.
    package var headings: [String] = []

    package init(sourceBytes: Int) { self.sourceBytes = sourceBytes }

    package var counts: ImportCounts { .init(created: created, updated: updated) }

    /// Reads one; nil if there is no such file.
    ///
    /// - Throws: `ImportProblem` for a file that is none.
    package static func read(_ path: String) throws(ImportProblem) -> ImportCheckpoint? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        guard let json = try? JSONParser.parse(Array(data)), let object = json.object,
            let sourceBytes = number(object, "sourceBytes"), let offset = number(object, "offset"),
            let line = number(object, "line"), let created = number(object, "created"),
            let updated = number(object, "updated"), let rejected = number(object, "rejected"),
            let rejectBytes = number(object, "rejectBytes"), let headings = object["headings"]?.array
        else { throw ImportProblem("devices import: \(path) is no checkpoint of an import; remove it to begin anew") }
        var checkpoint = ImportCheckpoint(sourceBytes: sourceBytes)
        (checkpoint.offset, checkpoint.line) = (offset, line)
        (checkpoint.created, checkpoint.updated, checkpoint.rejected) = (created, updated, rejected)
        checkpoint.rejectBytes = rejectBytes
        checkpoint.headings = headings.compactMap(\.string)
        return checkpoint
    }

    private static func number(_ object: JSONObject, _ name: String) -> Int? {
        guard case .number(let text)? = object[name], let value = Int(text), value >= 0 else { return nil }
        return value
    }

    /// Writes it in one step.
    ///
    /// - Throws: `ImportProblem`.
    package func write(_ path: String) throws(ImportProblem) {
        let json: JSON = [
            "sourceBytes": .int(sourceBytes), "offset": .int(offset), "line": .int(line), "created": .int(created),
            "updated": .int(updated), "rejected": .int(rejected), "rejectBytes": .int(rejectBytes),
            "headings": .array(headings.map { .string($0) }),
        ]
        do {
            try Data(JSONWriter.bytes(json)).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw ImportProblem(
                "devices import: \(path) cannot be written, so the import could not be resumed; --no-checkpoint does without"
            )
        }
    }
}
