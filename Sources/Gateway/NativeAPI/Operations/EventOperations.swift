import Adapters
import AnswerShapes
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOCore
import Store

/// `/v1/events` and `/v1/audit`: events and audit entries.
enum EventOperations {
    static let all = [list, audit]

    private static let formats = VendorCatalog.product.exporters.keys.sorted()

    struct ListInput: InputFields {
        let after = QueryField.optional(
            "after",
            .position,
            default: 0,
            as: 0,
            "The offset after which to start; 0: the oldest stored event."
        )
        let generation = QueryField.optional(
            "generation",
            .text(64),
            "The generation that `after` belongs to, as in `X-Event-Generation`."
        )
        let limit = CommonInputs.limit
        let kinds = QueryField.optional(
            "kinds",
            .list(.word(among: EventKind.allCases.map(\.rawValue)), limit: EventKind.allCases.count),
            default: [],
            "Only these kinds, comma-separated."
        )
        let app = CommonInputs.appFilter
        let vendor = QueryField.optional("vendor", .vendor, "Only events of this vendor.")
        let follow = QueryField.optional(
            "follow",
            .flag,
            default: false,
            as: false,
            "Keep the answer open and write events as they happen."
        )
        let format = QueryField.optional(
            "format",
            .word(among: EventOperations.formats),
            "A vendor's own shape of events; null: the gateway's."
        )
    }

    /// The same form as `EventRecord.json`, which webhooks use; a test compares the two.
    static let event = JSONSchema.object([
        ("offset", .integer(1...Int64.max, example: 42).described("The event's place in the log."), true),
        ("at", .time.described("When it happened."), true),
        ("kind", JSONSchema.text(example: "sent").described("The kind of event. More kinds may be added."), true),
        ("app", JSONSchema.text(example: "shop").described("The app."), true),
        ("vendor", JSONSchema.text(example: "native").described("The vendor; absent for a device."), false),
        ("sender", JSONSchema.text().described("The back end that sent the message."), false),
        ("message", .uuid.described("The message's id."), false),
        ("target", .uuid.described("The delivery's target; absent for the message as a whole."), false),
        ("identity", .uuid.described("The identity's id."), false),
        ("device", .uuid.described("The device's id."), false),
        ("address", JSONSchema.text(example: "key:phone-1").described("How the caller named the target."), false),
        ("reason", JSONSchema.text(example: "noDevice").described("The reason why a delivery did not succeed."), false),
        ("data", .anything.described("Further data, which depends on the kind."), false),
    ]).named("Event")

    /// The last line of a stream.
    private static let end = JSONSchema.object([
        ("kind", .words(["stream_ended"]), true),
        ("offset", .integer(0...Int64.max).described("`after` of the call that resumes."), true),
        ("head", .integer(0...Int64.max).described("The last offset of the log."), true),
        ("generation", .uuid.described("The generation of the log, which the offsets belong to."), true),
    ]).named("StreamEnd")

    static let list = NativeOperation(
        "listEvents",
        .get,
        "/v1/events",
        scope: .read,
        "Read the event log as lines of JSON, in the order of commits.",
        input: ListInput(),
        answers: [
            .lines(
                .any(of: [event, end, JSONSchema.anyObject.described("With `format`: an event in that shape.")]),
                "Events, one per line.",
                headers: [
                    .init(
                        name: "X-Event-Offset",
                        schema: .integer(0...Int64.max),
                        description: "`after` of the next call."
                    ),
                    .init(
                        name: "X-Event-Head",
                        schema: .integer(0...Int64.max),
                        description: "The last offset of the log."
                    ),
                    .init(
                        name: "X-Event-Generation",
                        schema: .uuid,
                        description: "The generation of the log, which the offsets belong to."
                    ),
                ]
            )
        ],
        problems: [.gone, .staleGeneration, .rateLimited],
        NativeAPI.listEvents
    ).audited(.found)

    /// The direction in which the audit is read.
    enum AuditOrder: String, Sendable, CaseIterable { case oldest, newest }

    struct AuditInput: InputFields {
        let after = QueryField.optional("after", .position, default: 0, as: 0, "`next` of the previous page.")
        let limit = CommonInputs.limit
        let order = QueryField.optional(
            "order",
            .word(AuditOrder.self),
            default: .oldest,
            as: "oldest",
            "`oldest`: in the order of commits; `newest`: the last entry first."
        )
        let author = QueryField.optional("actor", .text(128, atLeast: 1), "Only entries of this actor.")
        let action = QueryField.optional("action", .text(64, atLeast: 1), "Only entries with this action.")
        let subject = QueryField.optional(
            "subject",
            .text(256, atLeast: 1),
            "Only entries whose subject contains this text."
        )
    }

    /// The filters of the audit. A page searches 10,000 rows: no index has them.
    struct AuditSearch: Sendable {
        static let windows = 10
        static let windowRows = 1000

        var actor: String?
        var action: String?
        var subject: String?

        var isEmpty: Bool { actor == nil && action == nil && subject == nil }

        func matches(_ entry: AuditEntry) -> Bool {
            (actor.map { entry.actor == $0 } ?? true) && (action.map { entry.action == $0 } ?? true)
                && (subject.map { entry.subject.contains($0) } ?? true)
        }
    }

    static let auditPage = AnswerPage("entries", NativeShapes.audit, next: .integer(example: 42), title: "Audit")

    /// Needs `admin`, not `read`: the audit names people and keys, and dashboards have `read`.
    static let audit = NativeOperation(
        "listAudit",
        .get,
        "/v1/audit",
        scope: .admin,
        "List administrative actions, in the order of commits or the last one first.",
        input: AuditInput(),
        answers: [.json(auditPage.schema, "A page of entries.")],
        NativeAPI.listAudit
    )
}

extension NativeAPI {
    func listEvents(_ call: NativeCall<EventOperations.ListInput>) async throws(Problem) -> Response {
        let limit = try call.limit
        let filter = EventFilter(app: try call.app, vendor: try call.vendor, kinds: try call.kinds)
        let after = try call.after
        let lines = try eventLines(try call.format, call.tenant)
        let follows = try call.follow
        let requested = try call.generation
        // Every page names its generation, so only a reader that names one, or follows, needs it before.
        var generation: String?
        if requested != nil || follows {
            generation = try await asked { () async throws(StoreError) in try await queries.eventGeneration() }
        }
        // Checked before the offset, which is meaningless in another generation.
        guard requested == nil || requested?.lowercased() == generation else { throw .staleGeneration }
        let bounds = try await asked { () async throws(StoreError) in try await queries.eventBounds(in: call.tenant) }
        // A reader that starts at 0 receives the stored events; a reader that resumes must learn that events are missing.
        if after != 0 { try Self.requireStored(after, in: bounds) }
        let start = max(after, bounds.first)
        if follows, let generation {
            let from = EventPage(events: [], through: start, head: bounds.head, generation: generation)
            return try follow(call.caller, filter, from: from, lines)
        }
        let page = try await asked { () async throws(StoreError) in
            try await queries.events(in: call.tenant, after: start, limit: limit, filter: filter)
        }
        guard requested == nil || page.generation == generation else { throw .staleGeneration }
        call.found(page.events.count)
        let written = try await asked { () async throws(StoreError) in try await lines(page.events) }
        return Response(
            status: .ok,
            headers: EventLines.headers(through: page.through, head: page.head, generation: page.generation),
            body: ResponseBody(byteBuffer: EventLines.buffer(written))
        )
    }

    /// - Throws: `Problem` for an offset after which events are missing, or behind the end of the log.
    static func requireStored(_ offset: Int64, in bounds: EventBounds) throws(Problem) {
        guard offset >= bounds.first else { throw .gone("events up to offset \(bounds.first)") }
        guard offset <= bounds.head else { throw .invalid("after", "the log ends at offset \(bounds.head)") }
    }

    /// The format of events: the gateway's own or a vendor's.
    private func eventLines(_ format: String?, _ tenant: TenantID) throws(Problem) -> EventLines.Spelling {
        guard let format else { return { $0.map(\.json) } }
        guard let exporter = previews.vendors.exporters[format] else {
            throw .invalid("format", "is not available on this gateway")
        }
        return { (events) async throws(StoreError) in
            if events.isEmpty { return [] }
            let facts = try await queries.eventFacts(of: events, data: exporter.exportedData, in: tenant)
            return events.flatMap { exporter.export($0, facts) }
        }
    }

    /// Permits a stream of events or of an export, and counts a refused one.
    func streamPermit(_ caller: NativeCaller) -> HeldPermit? {
        let permit = eventStreams.acquire(caller.tenant)
        if permit == nil { callers.limiter.refused(FixedLimit.streams) }
        return permit
    }

    private func follow(
        _ caller: NativeCaller,
        _ filter: EventFilter,
        from start: EventPage,
        _ lines: @escaping EventLines.Spelling
    ) throws(Problem) -> Response {
        guard let permit = streamPermit(caller) else { throw .rateLimited(30) }
        let tenant = caller.tenant
        let stream = ResponseStream(to: caller.channel)
        let follower = EventFollower(stream: stream, lines: lines, generation: start.generation) {
            (offset) async throws(StoreError) in
            try await queries.events(in: tenant, after: offset, limit: EventFollower.pageSize, filter: filter)
        }
        let headers = EventLines.headers(through: start.through, head: start.head, generation: start.generation)
        return Self.streamed(permit, headers) { try await follower.run(after: start.through, into: $0) }
    }

    func listAudit(_ call: NativeCall<EventOperations.AuditInput>) async throws(Problem) -> Response {
        let limit = try call.limit
        let search = EventOperations.AuditSearch(
            actor: try call.author,
            action: try call.action,
            subject: try call.subject
        )
        let order = try call.order
        let size = search.isEmpty ? limit : EventOperations.AuditSearch.windowRows
        var position = try call.after
        var found: [AuditEntry] = []
        for _ in 0..<(search.isEmpty ? 1 : EventOperations.AuditSearch.windows) {
            let rows = try await auditRows(call.tenant, order, from: position, limit: size)
            for row in rows where found.count < limit {
                position = row.position
                if search.matches(row) { found.append(row) }
            }
            if found.count == limit { break }
            if rows.count < size { return Self.auditAnswer(found, next: nil) }
        }
        return Self.auditAnswer(found, next: position)
    }

    private static func auditAnswer(_ entries: [AuditEntry], next: Int64?) -> Response {
        .json([
            EventOperations.auditPage.name: .array(entries.map { NativeShapes.audit.json($0) }),
            "next": next.map { .int($0) } ?? .null,
        ])
    }

    /// The rows behind a position in the direction of the order; 0: from its beginning.
    private func auditRows(
        _ tenant: TenantID,
        _ order: EventOperations.AuditOrder,
        from position: Int64,
        limit: Int
    ) async throws(Problem) -> [AuditEntry] {
        try await asked { () async throws(StoreError) -> [AuditEntry] in
            if order == .oldest { return try await audit.entries(in: tenant, after: position, limit: limit) }
            let end = position == 0 ? Int64.max : position
            return try await audit.entries(in: tenant, before: end, limit: limit)
        }
    }
}
