import AnswerShapes
import DeviceFiles
import GatewayHTTP
import Hummingbird
import Imports
import Model
import NIOCore
import ServiceLifecycle

/// An export as lines, page by page. It holds one page at a time and reads the next when the peer has received it.
///
/// The status is sent before the rows are read. A failure after it ends the answer without a proper end; the peer then continues after the `cursor` of the last
/// whole line.
struct ExportStream<Cursor: Sendable>: Sendable {
    let stream: ResponseStream
    /// The first line; nil: there is none.
    let header: String?
    let first: ExportPage<Cursor>
    let read: @Sendable (_ after: Cursor) async throws(StoreError) -> ExportPage<Cursor>

    /// - Throws: when the peer is gone, the store fails or the node shuts down.
    func run(into writer: any ResponseBodyWriter) async throws {
        try await stream.run(into: writer) { writer in
            if let header { try await writer.write(ByteBuffer(string: header + "\r\n")) }
            var page = first
            while true {
                if !page.lines.isEmpty {
                    let end = header == nil ? "\n" : "\r\n"
                    try await writer.write(ByteBuffer(string: page.lines.joined(separator: end) + end))
                }
                guard let next = page.next else { return }
                guard !Task.isShuttingDownGracefully, !Task.isCancelled else { throw ExportInterrupted() }
                page = try await read(next)
            }
        }
    }
}

/// A page of lines, and where the next one begins; nil: it was the last.
struct ExportPage<Cursor: Sendable>: Sendable {
    var lines: [String]
    var next: Cursor?
}

/// The node shuts down before the export has ended.
struct ExportInterrupted: Error {}

/// Writes rows of one kind as lines of JSON or CSV. The columns of CSV are the members of the shape.
struct ExportLines<Value: Sendable>: Sendable {
    let shape: AnswerShape<Value>
    let format: ExportFormat
    /// The query whose cursors the lines have; nil: the positions are the cursors.
    var query: ExportQuery?

    var header: String? { format == .csv ? CSV.record(shape.members.map(\.name)) : nil }

    func line(_ value: Value) -> String {
        var object = shape.object(value)
        if let query, let position = object["cursor"]?.string { object["cursor"] = .string(query.cursor(position)) }
        guard format == .csv else { return JSONWriter.text(.object(object)) }
        return CSV.record(
            shape.members.map { member in
                switch object[member.name] {
                case nil, .null: ""
                // The texts come from devices and their users, and somebody opens the file in a spreadsheet.
                case .string(let text): CSV.neutral(text)
                case .some(let value): JSONWriter.text(value)
                }
            }
        )
    }
}

/// The form of an export.
enum ExportFormat: String, Sendable, CaseIterable { case ndjson, csv }
