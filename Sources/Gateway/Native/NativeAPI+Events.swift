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
        let lines = try eventLines(call)
        if call.query("follow") == "true" { return try follow(call, filter, after: start, head: bounds.head, lines) }
        let page = try await asked { () async throws(StoreError) in
            try await queries.events(in: call.tenant, after: start, limit: limit, filter: filter)
        }
        let written = try await asked { () async throws(StoreError) in try await lines(page.events) }
        return Response(
            status: .ok,
            headers: EventLines.headers(through: page.through, head: page.head),
            body: ResponseBody(byteBuffer: EventLines.buffer(written))
        )
    }

    /// How events are spelled: our own way, or in the shape of a dialect that has one for its readers.
    ///
    /// - Throws: `Problem` for a shape that no dialect has.
    private func eventLines(_ call: Call) throws(Problem) -> EventLines.Spelling {
        guard let format = call.query("format") else { return { $0.map(\.json) } }
        guard let adapter = previews.adapters.values.first(where: { $0.exportFormat == format }) else {
            let known = previews.adapters.values.compactMap(\.exportFormat).sorted().joined(separator: ", ")
            throw .invalid("format", "no dialect has this one; known: \(known)")
        }
        let tenant = call.tenant
        return { (events) async throws(StoreError) in
            if events.isEmpty { return [] }
            let facts = try await queries.eventFacts(of: events, data: adapter.exportedData, in: tenant)
            return events.flatMap { adapter.export($0, facts) }
        }
    }

    private func eventFilter(_ call: Call) throws(Problem) -> EventFilter {
        var filter = EventFilter(app: call.query("app").map { AppID($0) })
        if let name = call.query("vendor") {
            // A typo would wait for ever.
            guard previews.adapters[Vendor(name)] != nil else { throw .invalid("vendor", "is no dialect") }
            filter.vendor = Vendor(name)
        }
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
        head: Int64,
        _ lines: @escaping EventLines.Spelling
    ) throws(Problem) -> Response {
        guard let seat = followers.take(call.tenant) else { throw .rateLimited(30) }
        let tenant = call.tenant
        let channel = call.channel
        let hangUp: @Sendable () -> Void = { channel?.close(promise: nil) }
        let follower = EventFollower(hangUp: hangUp, lines: lines) { (offset) async throws(StoreError) in
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
