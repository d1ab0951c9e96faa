import Adapters
import AnswerShapes
import ApplePayload
import Commands
import EngineStore
import Explain
import GatewayHTTP
import Hummingbird
import Model
import Store

/// The execution of `MessageOperations`.
extension NativeAPI {
    func sendMessage(_ call: NativeCall<MessageOperations.SendInput>) async throws(Problem) -> Response {
        let app = try call.app
        var submission = try submission(call)
        try call.caller.requireSending(to: submission.audience.reach, of: app)
        if let key = try call.once {
            submission.idempotencyKey = key
            submission.bodyHash = identifiers.sha256(call.bytes)
        }
        if try call.preview {
            let preview = submission
            return .json(
                try await asked { () async throws(StoreError) in
                    try await previews.json(preview, app: app, tenant: call.tenant)
                }
            )
        }
        return try await accept(submission, call.caller, app: app)
    }

    /// Stores a message and answers with its id and the number of its recipients.
    ///
    /// - Throws: `Problem` for a refusal.
    func accept(_ submission: Submission, _ caller: NativeCaller, app: AppID) async throws(Problem) -> Response {
        guard
            case .submission(.accepted(let id, let recipients)) = try await perform(
                .submission(.submit(submission)),
                caller,
                app: app
            )
        else { throw .unavailable(5) }
        let accepted = MessageOperations.Accepted(id: id, recipients: recipients)
        return .json(MessageOperations.accepted.json(accepted), status: .accepted)
    }

    private func submission(_ call: NativeCall<MessageOperations.SendInput>) throws(Problem) -> Submission {
        let audience = try call.to
        var content = Content(
            title: try call.title,
            subtitle: try call.subtitle,
            body: try call.body,
            badge: try call.badge,
            sound: try call.sound,
            category: try call.category,
            threadID: try call.threadID,
            data: try call.data ?? JSONObject(),
            isUrgent: try call.urgent,
            isSilent: try call.silent
        )
        if let rule = try call.consent { content.consent = rule }
        content.campaign = try call.campaign
        content.campaignVariant = try call.variant
        if content.campaignVariant != nil, content.campaign == nil { throw .invalid("variant", "only with campaign") }
        if let raw = try call.raw { content.raw = .object(raw) }
        let options = try call.apns
        if let options { Self.add(options, to: &content) }
        if let hash = try call.image {
            content.media = MediaReference(id: identifiers.randomHex(byteCount: 16), hash: hash)
        }
        let collapseID = try call.collapseID
        if options != nil { try check(content, collapseID) }
        let schedule = try call.sendAt
        var submission = Submission(
            content: content,
            audience: audience,
            timing: SubmissionTiming(
                dueAt: schedule?.at ?? schedule?.delay.map { clock.now() + $0 },
                localDue: schedule?.local,
                timeToLive: try call.ttlSeconds.map { .seconds($0) }
            ),
            collapseID: collapseID,
            lane: Self.lane(content, audience)
        )
        submission.minAssurance = try call.minAssurance
        return submission
    }

    /// A background push without a text is a silent message, for every vendor; one with a text is refused by the type's rule.
    private static func add(_ options: ApplePushOptions, to content: inout Content) {
        var options = options
        if options.type == .background {
            options.isContentAvailable = true
            content.isSilent = (content.title ?? "").isEmpty && (content.subtitle ?? "").isEmpty && content.body.isEmpty
        }
        content.apns = options.json
    }

    /// - Throws: `Problem` with the first of Apple's rules that the message breaks.
    private func check(
        _ content: Content,
        _ collapseID: String?
    ) throws(Problem) {
        let now = clock.now()
        let notification = Notification(
            message: MessageID(rawValue: identifiers.uuid(at: now)),
            origin: .native,
            content: content,
            sentAt: now,
            collapseID: collapseID
        )
        if let fault = NativePayloadRules.fault(in: notification) { throw .invalid("apns", fault) }
    }

    static func lane(_ content: Content, _ audience: Audience) -> Lane {
        if content.isUrgent { return .urgent }
        if content.isSilent { return .background }
        switch audience {
        case .listed(let list): return list.count == 1 ? .transactional : .bulk
        case .users(let users): return users.count == 1 ? .transactional : .bulk
        case .groups, .tags, .everyone: return .bulk
        }
    }

    func listMessages(_ call: NativeCall<MessageOperations.ListInput>) async throws(Problem) -> Response {
        let filter = MessageFilter(
            app: try call.app,
            state: try call.state,
            vendor: try call.vendor,
            submitter: try call.submittedBy,
            label: try call.label,
            from: try call.from,
            to: try call.to,
            text: try call.text
        )
        if let from = filter.from, let to = filter.to, to <= from { throw .invalid("to", "must be after from") }
        // Whether a message is found says what is in it.
        if filter.text != nil, !call.caller.mayReadContent(of: filter.app) {
            throw .forbidden(KeyScope(.content, app: filter.app))
        }
        let after = try call.after
        if let after, !after.continues(filter, identifiers) {
            throw .invalid("after", "is not from a page with these filters; begin without it")
        }
        let isCounted = try call.counts
        let limit = isCounted ? min(try call.limit, MessageOperations.countedLimit) : try call.limit
        let page = try await asked { () async throws(StoreError) in
            var page = try await queries.messages(in: call.tenant, filter, after: after?.message, limit: limit)
            if isCounted { page.items = try await queries.counted(page.items, in: call.tenant) }
            return page
        }
        call.found(page.items.count)
        return .json(
            MessageOperations.page.json(
                page,
                withContent: { call.caller.mayReadContent(of: $0.scope.app) },
                next: { MessageCursor($0, of: filter, identifiers).text },
                more: [("searchedTo", page.next.map { .string($0.dueAt.rfc3339) } ?? .null)]
            )
        )
    }

    func message(_ reference: String, in tenant: TenantID) async throws(Problem) -> MessageFacts {
        let facts = try await asked { () async throws(StoreError) in
            try await queries.message(reference, in: tenant)
        }
        guard let facts else { throw .notFound("no such message") }
        return facts
    }

    func showMessage(_ call: NativeCall<MessageOperations.IDInput>) async throws(Problem) -> Response {
        let facts = try await message(try call.message, in: call.tenant)
        call.found(1)
        return .json(NativeShapes.message.json(facts, withContent: call.caller.mayReadContent(of: facts.scope.app)))
    }

    func withdrawMessage(_ call: NativeCall<MessageOperations.ControlInput>) async throws(Problem) -> Response {
        try await controlMessage(call, .cancel, answer: "canceled")
    }

    /// Applies a control to a message. The member `name` of the answer reports whether anything changed.
    ///
    /// - Throws: `Problem`.
    func controlMessage(
        _ call: NativeCall<MessageOperations.ControlInput>,
        _ control: MessageControl,
        answer name: String
    ) async throws(Problem) -> Response {
        let facts = try await message(try call.message, in: call.tenant)
        if control == .approve, facts.state == .awaitingApproval {
            if let sender = facts.submitter {
                let isOwn = try await asked { () async throws(StoreError) in
                    try await stores.keys.mayBeOne(sender, call.actor.description, in: call.tenant)
                }
                if isOwn { throw .ownApproval }
            } else if !call.caller.isAccount {
                throw .unknownSender  // who may have any key; an account is a person
            }
        }
        let id = facts.id.description
        let answer = try await perform(
            .submission(.control(control, message: id)),
            call.caller,
            app: facts.scope.app,
            once: repeatKey(try call.once, call)
        ) { reply in
            guard case .submission(.controlled(let isChanged)) = reply else { return nil }
            return .json(["id": .string(id), name: .bool(isChanged)])
        }
        return .kept(answer)
    }

    func listDeliveries(_ call: NativeCall<MessageOperations.DeliveriesInput>) async throws(Problem) -> Response {
        let state = try call.state
        let after = try call.after
        let limit = try call.limit
        let facts = try await message(try call.message, in: call.tenant)
        let page = try await asked { () async throws(StoreError) in
            try await queries.deliveryPage(of: facts.id, in: call.tenant, state: state, after: after, limit: limit)
        }
        call.found(page.items.count)
        return .json(MessageOperations.deliveries.json(page))
    }

    func showDelivery(_ call: NativeCall<MessageOperations.DeliveryInput>) async throws(Problem) -> Response {
        let target = try call.target
        let facts = try await message(try call.message, in: call.tenant)
        let explanation = try await asked { () async throws(StoreError) in
            try await explainer.explain(facts, to: target, in: call.tenant)
        }
        guard let explanation else { throw .notFound("no such delivery") }
        call.found(1)
        let withContent = call.caller.mayReadContent(of: facts.scope.app)
        return .json(DeliveryExplanation.shape.json(explanation, withContent: withContent))
    }
}
