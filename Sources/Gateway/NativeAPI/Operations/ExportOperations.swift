import AnswerShapes
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import Store

/// `/v1/exports`: deliveries, events and devices of a range, for analysis elsewhere.
enum ExportOperations {
    static let all = [deliveries, events, devices]

    /// 1,000 rows, about 500 KB: the memory that one export needs.
    static let pageSize = 1000

    private static let format = QueryField.optional(
        "format",
        .word(ExportFormat.self),
        default: .ndjson,
        as: .string(ExportFormat.ndjson.rawValue),
        "Lines of JSON, or CSV without cells that a spreadsheet would run."
    )
    private static let after = QueryField.optional(
        "after",
        .text(128, atLeast: 1).example("0198a1f0-7c00-7000-8000-000000000001"),
        "The `cursor` of the last line that an earlier call received whole."
    )

    // MARK: Deliveries

    struct DeliveriesInput: InputFields {
        let from = QueryField.optional(
            "from",
            .time,
            "Messages due at or after this time; default: seven days before `to`."
        )
        let to = QueryField.optional(
            "to",
            .time,
            "Messages due before this time; default: now. At most \(AnalyticsInputs.dayLimit) days after `from`."
        )
        let app = CommonInputs.appFilter
        let vendor = QueryField.optional("vendor", .vendor, "Only messages sent through this vendor's API.")
        let format = ExportOperations.format
        let after = ExportOperations.after
    }

    static let deliveries = NativeOperation(
        "exportDeliveries",
        .get,
        "/v1/exports/deliveries",
        scope: .read,
        "Export the deliveries of messages that were due in a range, in the order of messages and targets, as lines.",
        input: DeliveriesInput(),
        answers: [lines(ExportShapes.delivery.schema)],
        problems: [.rateLimited],
        NativeAPI.exportDeliveries
    ).audited(.read)

    // MARK: Events

    struct EventsInput: InputFields {
        let from = QueryField.optional("from", .time, "The beginning of the range; default: the oldest.")
        let to = QueryField.optional("to", .time, "The end of the range, excluded; default: now.")
        let app = CommonInputs.appFilter
        let vendor = QueryField.optional("vendor", .vendor, "Only events of this vendor.")
        let format = ExportOperations.format
        let after = ExportOperations.after
    }

    static let events = NativeOperation(
        "exportEvents",
        .get,
        "/v1/exports/events",
        scope: .read,
        "Export the stored events of a range, in the order of commits, as lines. `listEvents` continues as events happen.",
        input: EventsInput(),
        answers: [lines(ExportShapes.event.schema)],
        problems: [.gone, .rateLimited],
        NativeAPI.exportEvents
    ).audited(.read)

    // MARK: Devices

    struct DevicesInput: InputFields {
        let app = CommonInputs.appFilter
        let vendor = QueryField.optional("vendor", .vendor, "Only devices with an identity of this vendor.")
        let format = ExportOperations.format
        let after = ExportOperations.after
    }

    static let devices = NativeOperation(
        "exportDevices",
        .get,
        "/v1/exports/devices",
        scope: .read,
        "Export the devices with their identities by id, with masked tokens, as lines. `push-gateway devices export` writes complete tokens.",
        input: DevicesInput(),
        answers: [lines(ExportShapes.device.schema)],
        problems: [.rateLimited],
        NativeAPI.exportDevices
    ).audited(.read)

    private static func lines(_ schema: JSONSchema) -> DeclaredAnswer {
        var answer = DeclaredAnswer.lines(
            schema,
            "One object per line; with `format=csv` a table. If the connection ends before the last chunk, rows are missing: continue after the last `cursor`.",
            headers: []
        )
        answer.csvExample = "cursor\r\n"
        return answer
    }
}

extension NativeAPI {
    func exportDeliveries(_ call: NativeCall<ExportOperations.DeliveriesInput>) async throws(Problem) -> Response {
        let to = try call.to ?? clock.now()
        let from = try call.from ?? to + .seconds(-7 * 86_400)
        guard from < to else { throw .invalid("to", "must be after from") }
        guard to.seconds - from.seconds <= AnalyticsInputs.dayLimit * 86_400 else {
            throw .invalid("to", "must be at most \(AnalyticsInputs.dayLimit) days after from")
        }
        let end = DeliveryCursor(before: to)
        var start = DeliveryCursor(before: from)
        let (app, vendor, tenant) = (try call.app, try call.vendor, call.tenant)
        try await requireApp(app, in: tenant)
        let query = ExportQuery("deliveries", app, vendor, from: try call.from, identifiers)
        if let after = try query.position(try call.after) {
            guard let cursor = DeliveryCursor(text: after) else { throw ExportQuery.noCursor }
            guard start < cursor, cursor < end else { throw .invalid("after", "belongs to another range") }
            start = cursor
        }
        let lines = ExportLines(shape: ExportShapes.delivery, format: try call.format, query: query)
        return try await export(call.caller, lines, from: start) { (after) async throws(StoreError) in
            let page = try await queries.exportedDeliveries(
                after: after,
                before: end,
                app: app,
                vendor: vendor,
                in: tenant,
                limit: ExportOperations.pageSize
            )
            return ExportPage(lines: page.items.map(lines.line), next: page.next)
        }
    }

    func exportEvents(_ call: NativeCall<ExportOperations.EventsInput>) async throws(Problem) -> Response {
        let (from, to) = (try call.from, try call.to ?? clock.now())
        if let from, from >= to { throw .invalid("to", "must be after from") }
        let tenant = call.tenant
        let filter = EventFilter(app: try call.app, vendor: try call.vendor, kinds: [])
        try await requireApp(filter.app, in: tenant)
        let query = ExportQuery("events", filter.app, filter.vendor, from: from, identifiers)
        let bounds = try await asked { () async throws(StoreError) in try await queries.eventBounds(in: tenant) }
        var start = bounds.first
        if let after = try query.position(try call.after) {
            guard let offset = Int64(after), offset >= 0 else { throw ExportQuery.noCursor }
            try Self.requireStored(offset, in: bounds)
            start = offset
        } else if let from {
            // Without this, everything before the range would be read.
            start = try await asked { () async throws(StoreError) in
                try await queries.eventOffset(before: from + .seconds(-90), in: bounds, of: tenant)
            }
        }
        let lines = ExportLines(shape: ExportShapes.event, format: try call.format, query: query)
        return try await export(call.caller, lines, from: start) { (after) async throws(StoreError) in
            let page = try await queries.events(
                in: tenant,
                after: after,
                limit: ExportOperations.pageSize,
                filter: filter
            )
            // The order is that of commits. A transaction ends within 90 s, so that no earlier event follows one that is later than that.
            let isOver = page.events.last.map { $0.at >= to + .seconds(90) } ?? false
            let events = page.events.filter { event in event.at < to && from.map { $0 <= event.at } ?? true }
            return ExportPage(
                lines: events.map(lines.line),
                next: isOver || page.through >= page.head ? nil : page.through
            )
        }
    }

    func exportDevices(_ call: NativeCall<ExportOperations.DevicesInput>) async throws(Problem) -> Response {
        var start = DeviceID.least
        let tenant = call.tenant
        let filter = DeviceFilter(app: try call.app, vendor: try call.vendor)
        try await requireApp(filter.app, in: tenant)
        let query = ExportQuery("devices", filter.app, filter.vendor, from: nil, identifiers)
        if let after = try query.position(try call.after) {
            guard let device = DeviceID(text: after) else { throw ExportQuery.noCursor }
            start = device
        }
        let lines = ExportLines(shape: ExportShapes.device, format: try call.format, query: query)
        return try await export(call.caller, lines, from: start) { (after) async throws(StoreError) in
            let page = try await devices.devices(
                in: tenant,
                filter,
                after: after,
                limit: ExportOperations.pageSize
            )
            return ExportPage(lines: page.items.map(lines.line), next: page.next)
        }
    }

    /// Reads the first page, so that a failure still gets its status, and writes the others as the peer receives them.
    private func export<Value, Cursor: Sendable>(
        _ caller: NativeCaller,
        _ lines: ExportLines<Value>,
        from start: Cursor,
        _ read: @escaping @Sendable (_ after: Cursor) async throws(StoreError) -> ExportPage<Cursor>
    ) async throws(Problem) -> Response {
        guard let permit = streamPermit(caller) else { throw .rateLimited(30) }
        let first = try await asked { () async throws(StoreError) in try await read(start) }
        let export = ExportStream(
            stream: ResponseStream(to: caller.channel),
            header: lines.header,
            first: first,
            read: read
        )
        let type = lines.format == .csv ? "text/csv; charset=utf-8" : "application/x-ndjson"
        return Self.streamed(permit, [.contentType: type]) { try await export.run(into: $0) }
    }

    /// An answer that is written part by part. The permit is held until it ends, or until the response is dropped before it begins.
    static func streamed(
        _ permit: HeldPermit,
        _ headers: HTTPFields,
        _ write: @escaping @Sendable (any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { writer in
                defer { permit.release() }
                try await write(writer)
            }
        )
    }
}
