package import HTTPTypes
package import Model
package import NIOCore

/// Formats events as lines of JSON.
package enum EventLines {
    /// The headers with the offset of the next page, and the last offset and the generation of the log.
    package static func headers(through: Int64, head: Int64, generation: String) -> HTTPFields {
        var fields = HTTPFields()
        fields[.contentType] = "application/x-ndjson"
        if let name = HTTPField.Name("X-Event-Offset") { fields[name] = "\(through)" }
        if let name = HTTPField.Name("X-Event-Head") { fields[name] = "\(head)" }
        if let name = HTTPField.Name("X-Event-Generation") { fields[name] = generation }
        return fields
    }

    /// Converts events to JSON lines, in their order; an event yields zero, one or more lines.
    package typealias Spelling = @Sendable ([EventRecord]) async throws(StoreError) -> [JSON]

    package static func buffer(_ lines: [JSON]) -> ByteBuffer {
        var bytes: [UInt8] = []
        for line in lines {
            JSONWriter.write(line, into: &bytes)
            bytes.append(0x0A)
        }
        return ByteBuffer(bytes: bytes)
    }
}
