import HTTPTypes
import Hummingbird
import Model
import NIOCore
import Postgres

/// `/v1/events`.
extension NativeAPI {
    func events(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        let limit = try call.limit()
        let filter = try eventFilter(call)
        guard let after = Int64(call.query("after") ?? "0"), after >= 0 else { throw .invalid("after", "is no offset") }
        let bounds = try await asked { () async throws(StoreError) in try await queries.eventBounds(in: call.tenant) }
        // A reader who starts takes what there is; one who goes on must hear that something is missing.
        guard after == 0 || after >= bounds.first else { throw .gone("events up to offset \(bounds.first)") }
        guard after <= bounds.head else { throw .invalid("after", "the log ends at offset \(bounds.head)") }
        let start = max(after, bounds.first)
        if call.query("follow") == "true" { return try follow(call, filter, after: start, head: bounds.head) }
        let page = try await asked { () async throws(StoreError) in
            try await queries.events(in: call.tenant, after: start, limit: limit, filter: filter)
        }
        return Response(
            status: .ok,
            headers: EventLines.headers(through: page.through, head: page.head),
            body: ResponseBody(byteBuffer: EventLines.buffer(page.events))
        )
    }

    private func eventFilter(_ call: Call) throws(Problem) -> EventFilter {
        var filter = EventFilter(app: call.query("app").map { AppID($0) })
        filter.kinds = try Self.kinds(call.query("kinds")?.split(separator: ",").map(String.init) ?? [])
        return filter
    }

    /// - Throws: `Problem` for a kind that does not exist: a typo would wait for ever.
    static func kinds(_ texts: [String]) throws(Problem) -> [String] {
        for text in texts where EventKind(rawValue: text) == nil {
            throw .invalid("kinds", "'\(text.prefix(40))' is no kind of event")
        }
        return texts
    }

    private func follow(
        _ call: Call,
        _ filter: EventFilter,
        after: Int64,
        head: Int64
    ) throws(Problem) -> Response {
        guard let seat = followers.take(call.tenant) else { throw .rateLimited(30) }
        let tenant = call.tenant
        let follower = EventFollower(hangUp: call.hangUp) { (offset) async throws(StoreError) in
            try await queries.events(in: tenant, after: offset, limit: EventFollower.pageSize, filter: filter)
        }
        return Response(
            status: .ok,
            headers: EventLines.headers(through: after, head: head),
            body: ResponseBody { writer in
                // Held until the stream ends, or until nobody wants it before it began.
                defer { seat.leave() }
                try await follower.run(after: after, into: &writer)
            }
        )
    }
}

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

    static func buffer(_ events: [EventRecord]) -> ByteBuffer { buffer(events.map(\.json)) }

    static func buffer(_ lines: [JSON]) -> ByteBuffer {
        var bytes: [UInt8] = []
        for line in lines {
            JSONWriter.write(line, into: &bytes)
            bytes.append(0x0A)
        }
        return ByteBuffer(bytes: bytes)
    }
}
