import Commands
import Foundation
import HTTPTypes
import Hummingbird
import Model
import Postgres

/// `/v1/messages`.
extension NativeAPI {
    func submit(_ call: Call) async throws(Problem) -> Response {
        try call.require("send")
        var (fields, bytes) = try await fields(call)
        let app = AppID(try fields.requiredText("app", limit: 64))
        var submission = try Self.submission(&fields, identifiers)
        if let key = try Self.repeatKey(of: call.request) {
            submission.idempotencyKey = key
            submission.bodyHash = identifiers.sha256(bytes)
        }
        try fields.finish()
        if call.query("preview") == "true" {
            return .json(
                try await asked { () async throws(StoreError) in
                    try await previews.json(submission, app: app, tenant: call.tenant)
                }
            )
        }
        guard
            case .submission(.accepted(let id, let recipients)) = try await perform(
                .submission(.submit(submission)),
                call,
                app: app
            )
        else { throw .unavailable(5) }
        return .json(
            ["id": .string(id.description), "recipients": recipients.map { .int($0) } ?? .null],
            status: .accepted
        )
    }

    /// - Throws: `Problem` that names the field.
    static func submission(_ fields: inout RequestFields, _ identifiers: any IdentifierSource) throws(Problem)
        -> Submission
    {
        guard let to = fields.value("to") else { throw .invalid("to", "is missing") }
        let audience = try NativeAudience.read(to)
        var content = Content(
            title: try fields.text("title"),
            subtitle: try fields.text("subtitle"),
            body: try fields.text("body") ?? "",
            badge: try fields.integer("badge", in: 0...Int64(Int32.max)).map { Int($0) },
            sound: try fields.text("sound", limit: 128),
            category: try fields.text("category", limit: 128),
            threadID: try fields.text("threadId", limit: 128),
            data: try fields.object("data") ?? JSONObject(),
            isUrgent: try fields.flag("urgent") ?? false,
            isSilent: try fields.flag("silent") ?? false
        )
        if let word = try fields.text("consent", limit: 32) {
            guard let rule = ConsentRule(rawValue: word) else {
                throw .invalid("consent", "must be subscribed, optedIn or all")
            }
            content.consent = rule
        }
        if let raw = try fields.object("raw") { content.raw = .object(raw) }
        if let image = try fields.text("image", limit: 64) {
            guard image.utf8.count == 64, HexCoding.decode(image) != nil else {
                throw .invalid("image", "must be the hash of PUT /v1/media/{hash}")
            }
            content.media = MediaReference(id: identifiers.randomHex(byteCount: 16), hash: image.lowercased())
        }
        let collapseID = try fields.text("collapseId", limit: 64)
        let (dueAt, localDue) = try fields.schedule("sendAt")
        let timeToLive = try fields.integer("ttlSeconds", in: 0...2_592_000).map { Duration.seconds($0) }
        return Submission(
            content: content,
            audience: audience,
            dueAt: dueAt,
            localDue: localDue,
            timeToLive: timeToLive,
            collapseID: collapseID,
            lane: lane(content, audience)
        )
    }

    private static func lane(_ content: Content, _ audience: Audience) -> Lane {
        if content.isUrgent { return .urgent }
        if content.isSilent { return .background }
        switch audience {
        case .listed(let list): return list.count == 1 ? .transactional : .bulk
        case .users(let users): return users.count == 1 ? .transactional : .bulk
        case .groups, .tags, .everyone: return .bulk
        }
    }

    private func found(_ call: Call) async throws(Problem) -> MessageFacts {
        let facts = try await asked { () async throws(StoreError) in
            try await queries.message(call.segments[1], in: call.tenant)
        }
        guard let facts else { throw .notFound("no such message") }
        return facts
    }

    func message(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        return .json(NativeShapes.message(try await found(call)))
    }

    func cancel(_ call: Call) async throws(Problem) -> Response { try await control(call, .cancel, told: "canceled") }

    /// `POST /v1/messages/{id}/pause`, `resume`, `requeue`, `cancel`: asking again changes nothing and is no error.
    func control(_ call: Call) async throws(Problem) -> Response {
        guard let control = MessageControl(rawValue: call.segments[2]) else { throw .notFound("no such path") }
        return try await self.control(call, control, told: "changed")
    }

    private func control(_ call: Call, _ control: MessageControl, told name: String) async throws(Problem) -> Response {
        try call.require("send")
        let facts = try await found(call)
        let id = facts.id.description
        return try await perform(
            .submission(.control(control, message: id)),
            call,
            app: facts.scope.app,
            once: try repeatKey(call)
        ) { reply in
            guard case .submission(.controlled(let isChanged)) = reply else { return nil }
            return .json(["id": .string(id), name: .bool(isChanged)])
        }
    }

    func deliveries(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        let facts = try await found(call)
        if call.segments.count == 4 {
            guard let target = TargetID(text: call.segments[3]) else { throw .notFound("no such delivery") }
            let one = try await asked { () async throws(StoreError) in
                try await explainer.explain(facts, to: target, in: call.tenant)
            }
            guard let one else { throw .notFound("no such delivery") }
            return .json(one.json)
        }
        var state: DeliveryState?
        if let text = call.query("state") {
            guard let known = DeliveryState(rawValue: text) else { throw .invalid("state", "is no delivery state") }
            state = known
        }
        var after: TargetID?
        if let text = call.query("after") {
            guard let id = TargetID(text: text) else { throw .invalid("after", "is no target id") }
            after = id
        }
        let limit = try call.limit()
        let page = try await asked { () async throws(StoreError) in
            try await queries.deliveries(of: facts.id, in: call.tenant, state: state, after: after, limit: limit)
        }
        return .json([
            "deliveries": .array(page.map(NativeShapes.delivery)),
            "next": page.count == limit ? page.last.map { .string($0.snapshot.target.description) } ?? .null : .null,
        ])
    }

    func receipt(_ call: Call) async throws(Problem) -> Response {
        try call.require("devices")
        var (fields, bytes) = try await fields(call)
        let repeatKey = try repeatKey(call, bytes)
        let app = AppID(try fields.requiredText("app", limit: 64))
        let message = try fields.requiredText("message", limit: 128)
        let key = VendorDeviceKey(try fields.requiredText("key", limit: 128))
        let kind = try fields.requiredText("kind", limit: 16)
        guard let kind = ReceiptKind(rawValue: kind) else { throw .invalid("kind", "must be received or read") }
        let at = try fields.moment("at")
        try fields.finish()
        return try await perform(
            .receipt(.report(kind, message: message, reporter: Reporter(key: key), at: at)),
            call,
            app: app,
            once: repeatKey
        ) { reply in
            guard case .receipt(let outcome) = reply else { return nil }
            return .json(["outcome": .string("\(outcome)")])
        }
    }

    func putMedia(_ call: Call) async throws(Problem) -> Response {
        try call.require("send")
        let bytes = try await body(call)
        let hash = identifiers.sha256(bytes)
        guard hash == call.segments[1].lowercased() else { throw .invalid("hash", "the body's SHA-256 is \(hash)") }
        let app = AppID(call.query("app") ?? "")
        return try await perform(
            .media(.store(bytes: bytes, hash: hash)),
            call,
            app: app,
            once: try repeatKey(call, bytes)
        ) { reply in
            if case .refused = reply { return nil }
            return .json(["hash": .string(hash)], status: 201)
        }
    }

    func funnel(_ call: Call) async throws(Problem) -> Response {
        try call.require("read")
        let now = Date().timeIntervalSince1970
        func day(_ name: String, _ fallback: Double) throws(Problem) -> Timestamp {
            guard let text = call.query(name) else { return Timestamp(seconds: Int64(fallback)) }
            guard let date = try? Date(text, strategy: .iso8601) else {
                throw .invalid(name, "must be a time like 2026-12-25T00:00:00Z")
            }
            return Timestamp(seconds: Int64(date.timeIntervalSince1970))
        }
        let from = try day("from", now - 7 * 86_400)
        let to = try day("to", now + 86_400)
        let app = call.query("app").map { AppID($0) }
        let days = try await asked { () async throws(StoreError) in
            try await queries.funnel(in: call.tenant, app: app, from: from, to: to)
        }
        return .json(["days": .array(days.map(NativeShapes.day))])
    }
}
