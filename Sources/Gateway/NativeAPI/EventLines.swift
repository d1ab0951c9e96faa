import HTTPTypes
import Model
import NIOCore

/// Events as lines of JSON.
enum EventLines {
    /// Where the next page starts, and where the log ends.
    static func headers(through: Int64, head: Int64) -> HTTPFields {
        var fields = HTTPFields()
        fields[.contentType] = "application/x-ndjson"
        if let name = HTTPField.Name("X-Event-Offset") { fields[name] = "\(through)" }
        if let name = HTTPField.Name("X-Event-Head") { fields[name] = "\(head)" }
        return fields
    }

    /// What is told of some events, in their order; none, one or more lines of each.
    typealias Spelling = @Sendable ([EventRecord]) async throws(StoreError) -> [JSON]

    static func buffer(_ lines: [JSON]) -> ByteBuffer {
        var bytes: [UInt8] = []
        for line in lines {
            JSONWriter.write(line, into: &bytes)
            bytes.append(0x0A)
        }
        return ByteBuffer(bytes: bytes)
    }
}
